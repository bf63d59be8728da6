// Marks functions that must also build under nvcc: everything in wire/ runs on host and device.
#pragma once

#if defined(__CUDACC__)
#define SPLITPLANE_HD __host__ __device__
#else
#define SPLITPLANE_HD
#endif
