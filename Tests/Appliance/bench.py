"""What scenarios stand on: the prepared image, a folder for each, and what is left behind when one fails."""

import contextlib
import os
import shutil

from appliance import Appliance
from machine import copy_disk


class Failed(Exception):
    """The appliance did not do what it should."""


def expect(condition, message):
    if not condition:
        raise Failed(message)


class Bench:
    def __init__(self, image, package, state, work):
        self.image, self.package, self.state, self.work = image, package, state, work

    def folder(self, name):
        """An empty folder for a scenario."""
        path = os.path.join(self.work, name)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        return path

    @contextlib.contextmanager
    def appliance(self, name, cold=False, disk=None, log_writes=False):
        """A machine with the package installed and the service ready; `cold`: off, with `disk` or that of the state."""
        with Appliance(self.image, self.folder(name), log_writes) as machine:
            if cold:
                copy_disk(disk or os.path.join(self.state, "root.img"), machine.disk)
            else:
                machine.resume(self.state)
            try:
                yield machine
            except BaseException:
                if machine.process:
                    machine.leave_evidence()
                raise
