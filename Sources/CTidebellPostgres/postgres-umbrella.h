// SPDX-License-Identifier: Apache-2.0
// The system's libpq, PostgreSQL's own client library.
#include <libpq-fe.h>
