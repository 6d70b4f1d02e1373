"""The common code of the scenarios: the prepared machine, a folder for each scenario, and the check of recorded sound."""

import contextlib
import os
import shutil

from appliance import ROOM, Appliance
from machine import copy_disk
from sound import RATE, equal_samples, position_in, samples_of


class Failed(Exception):
    """The appliance did not behave as expected."""


def expect(condition, message):
    if not condition:
        raise Failed(message)


def check_played(data, name):
    """Checks that the samples in a WAV file, as many as its header states, are part of the played sound. Returns their length in
    seconds."""
    recorded = samples_of(data) if data else b""
    if len(recorded) < 128:
        return 0.0
    position = position_in(ROOM, recorded)
    expect(position is not None, name + " does not begin with sound that was played")
    equal_count = equal_samples(ROOM, recorded, position, 0)
    expect(equal_count == len(recorded) // 2,
           "%s: sample %d of %d differs from the played sound" % (name, equal_count, len(recorded) // 2))
    return equal_count / RATE


class Bench:
    def __init__(self, image, package, state, work, model=None):
        """`model` is a folder with the packages of Moonshine's library and model."""
        self.image, self.package, self.state, self.work, self.model = image, package, state, work, model

    def folder(self, name):
        """Creates an empty folder for a scenario."""
        path = os.path.join(self.work, name)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        return path

    @contextlib.contextmanager
    def appliance(self, name, cold=False, disk=None, log_writes=False):
        """Yields a machine with the package installed and the service ready. If `cold`, the machine is switched off, and has `disk` or the
        saved disk."""
        with Appliance(self.image, self.folder(name), log_writes) as machine:
            if cold:
                copy_disk(disk or os.path.join(self.state, "root.img"), machine.disk)
            else:
                machine.resume(self.state)
            yield machine
