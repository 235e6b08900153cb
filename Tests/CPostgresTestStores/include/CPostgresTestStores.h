// SPDX-License-Identifier: Apache-2.0
// Nothing to call: what is linked with this has the engine of PostgreSQL among its test stores.
