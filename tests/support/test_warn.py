"""Warnings that a page shows beside its answer."""

import warnings

from tomnet.support.warn import BeyondTraining, overheard, warn_once


def test_warnings_are_overheard_each_time_and_not_given():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with overheard() as heard:
                warn_once("more walls than ever", BeyondTraining)
            assert heard == ["more walls than ever"]
