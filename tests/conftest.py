"""Settings that hold for every test."""

from hypothesis import settings

settings.register_profile("leastnoise", deadline=None)  # a busy machine is not a failure
settings.load_profile("leastnoise")
