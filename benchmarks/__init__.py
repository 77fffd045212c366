"""Side by side with peers, in one run on one machine; what counts is the ratio."""
