"""Private k-median: facilities among public points, near to private demand."""

from leastnoise.mechanisms.combinatorial.k_median.k_median import KMedian

__all__ = ["KMedian"]
