from spack.package import *


class Mgsync(CMakePackage, CudaPackage):
    """Measures every way to synchronize GPUs or host threads on the machine at hand, checks each of them, says which
    to use, and ships a barrier over all blocks of several GPUs as a library."""

    # Marked: the project's owner has named neither a public place of the sources nor a licence. Until then, from a
    # checkout: spack develop --path=/path/to/mgsync mgsync@main
    # homepage = "..."
    # git = "..."
    # license("...")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("mpi", default=True, description="Members spread over the ranks of an MPI job")
    variant("nccl", default=False, when="+cuda", description="NCCL's barriers beside the others")
    variant("z3", default=False, description="The solver of the study pipeline")
    variant("tests", default=False, description="Build the tests")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconf", type="build")
    depends_on("python", type=("build", "test"))
    depends_on("boost+program_options")
    depends_on("fmt")
    depends_on("hwloc@2:")
    depends_on("nlohmann-json")
    depends_on("xz")
    depends_on("mpi", when="+mpi")
    depends_on("cuda@12:", when="+cuda")
    depends_on("nccl", when="+nccl")
    depends_on("z3", when="+z3")
    depends_on("googletest", when="+tests", type=("build", "test"))

    conflicts("%gcc@:11", msg="mgsync is C++20: GCC 12 or later")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPUs' architecture, such as cuda_arch=90")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define_from_variant("MGSYNC_CUDA", "cuda"),
            self.define_from_variant("MGSYNC_MPI", "mpi"),
            self.define_from_variant("MGSYNC_NCCL", "nccl"),
            self.define_from_variant("MGSYNC_Z3", "z3"),
            self.define_from_variant("MGSYNC_TESTS", "tests"),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("MGSYNC_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args
