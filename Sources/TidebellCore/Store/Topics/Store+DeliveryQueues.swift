// SPDX-License-Identifier: Apache-2.0

/// What waits to be delivered by routes. It is put in a queue with the notification it is for
/// (``NotificationLogWriting``), goes as cursors move (``WebhookWriting``, ``PushTokenWriting``),
/// and is worked on by who claims it (``DeliveryLeasing``).
package protocol DeliveryQueueReading {
    /// Returns what stands in a queue, whoever holds it, at most `limit` pointers: of a webhook,
    /// who was delivered something goes behind all others.
    func queuedDeliveries(in queue: DeliveryQueue, limit: Int) throws -> [DeliveryPointer]
}
