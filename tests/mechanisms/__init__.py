"""Tests of the mechanisms, and the suite that every one of them passes."""
