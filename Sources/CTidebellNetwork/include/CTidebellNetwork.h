// SPDX-License-Identifier: Apache-2.0
#ifndef TIDEBELL_NETWORK_H
#define TIDEBELL_NETWORK_H

/// Returns the transport to a server, as a retained `MadeTransport`; TidebellNetwork has it.
///
/// Every answer is waited for `leastTimeout` seconds at least.
void *_Nonnull tidebell_network_transport(const char *_Nonnull server, double leastTimeout);

#endif
