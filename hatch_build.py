"""The wheel's files are compressed as far as zip goes, a little further than hatchling does by itself."""

import zipfile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Recompress(BuildHookInterface):
    def finalize(self, version, build_data, artifact_path):
        with zipfile.ZipFile(artifact_path) as wheel:
            files = [(info, wheel.read(info)) for info in wheel.infolist()]
        with zipfile.ZipFile(artifact_path, "w") as wheel:
            for info, content in files:
                wheel.writestr(info, content, info.compress_type, 9)
