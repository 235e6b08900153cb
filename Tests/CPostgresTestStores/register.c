// SPDX-License-Identifier: Apache-2.0
#include "CPostgresTestStores.h"

void tidebell_register_postgres_test_stores(void);

// Before any test: which engine the stores of tests have is decided when the first is opened.
__attribute__((constructor)) static void register_engine(void) {
    tidebell_register_postgres_test_stores();
}
