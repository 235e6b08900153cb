// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
    package func queuedDeliveries(
        in queue: DeliveryQueue, limit: Int
    ) throws -> [DeliveryPointer] {
        switch queue {
        case .webhook(let id):
            try connection.rows(
                "SELECT user FROM webhook_queue WHERE webhook = ? ORDER BY turn, user LIMIT ?", id,
                limit
            ) { .webhook(id, try $0.value(0)) }
        case .pushTargets(let container):
            try connection.rows(
                """
                SELECT token, device FROM push_queue INDEXED BY push_queue_container
                WHERE container = ? AND environment = ? ORDER BY device, token LIMIT ?
                """,
                container.container, container.environment, limit
            ) {
                .pushTarget(
                    PushTargetKey(token: $0.text(0), device: try $0.value(1)), in: container
                )
            }
        }
    }
}
