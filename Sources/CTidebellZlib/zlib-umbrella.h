// SPDX-License-Identifier: Apache-2.0
// The system's zlib, which the dependencies link already.
#include <zlib.h>
