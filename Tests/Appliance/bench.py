"""What scenarios share: the prepared machine, a folder for each, and the checks of what was recorded."""

import contextlib
import os
import shutil

from appliance import ROOM, Appliance
from machine import copy_disk
from sound import RATE, equal_samples, place_in, samples_of


class Failed(Exception):
    """The appliance misbehaved."""


def expect(condition, message):
    if not condition:
        raise Failed(message)


def same_as_heard(data, what):
    """Returns the seconds of sound that the WAV file's header states; fails unless all of it is sound that was played."""
    recorded = samples_of(data) if data else b""
    if len(recorded) < 128:
        return 0.0
    place = place_in(ROOM, recorded)
    expect(place is not None, what + ": it does not begin with sound that was played")
    same = equal_samples(ROOM, recorded, place, 0)
    expect(same == len(recorded) // 2, "%s: sample %d of %d differs from what was played" % (what, same, len(recorded) // 2))
    return same / RATE


class Bench:
    def __init__(self, image, package, state, work, model=None):
        """`model` is a folder with the packages of Moonshine and its model."""
        self.image, self.package, self.state, self.work, self.model = image, package, state, work, model

    def folder(self, name):
        """An empty folder for a scenario."""
        path = os.path.join(self.work, name)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        return path

    @contextlib.contextmanager
    def appliance(self, name, cold=False, disk=None, log_writes=False):
        """A machine with the package installed and the service ready; if `cold`, switched off, with `disk` or the saved disk."""
        with Appliance(self.image, self.folder(name), log_writes) as machine:
            if cold:
                copy_disk(disk or os.path.join(self.state, "root.img"), machine.disk)
            else:
                machine.resume(self.state)
            yield machine
