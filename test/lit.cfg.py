"""lit: one file, one behaviour; tools come from the build folder."""
import os
import lit.formats

config.name = "Adze"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test", ".onnxtxt"]
config.excludes = ["Inputs", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.join(config.adze_source, "test")
config.test_exec_root = os.path.join(config.adze_build, "test")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.adze_build, "bin"), config.llvm_tools, os.environ["PATH"]])
config.substitutions.append(("%examples", os.path.join(config.adze_source, "examples")))
config.substitutions.append(("%adze_lib", os.path.join(config.adze_build, "lib")))
