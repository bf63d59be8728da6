// intel-ipsec-mb's header, without the names of its old versions: they are macros such as `ENCRYPT`. Only .cpp files
// include it.
#pragma once

#define NO_COMPAT_IMB_API_053
#include <intel-ipsec-mb.h>
