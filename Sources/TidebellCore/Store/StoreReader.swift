// SPDX-License-Identifier: Apache-2.0

/// What can be read in a transaction: all topics, as an engine implements them and
/// ``Store/read(_:)`` hands them out.
///
/// What an operation needs is in its signature, by topic. Every call is set-shaped: its cost
/// in statements does not grow with the number of records asked for.
package protocol StoreReader:
    ReadingAhead,
    ZoneReading, RecordReading, FieldIndexReading, ShareReading, SharedRecordReading,
    SettlingReading,
    SharedZoneReading,
    FieldKeyReading, StorageUseReading, AssetReading, SchemaReading,
    SubscriptionReading, OutboxReading, NotificationLogReading, NotificationHistoryReading,
    BadgeReading, DeviceReading, PushTokenReading, WebhookReading, DeliveryQueueReading,
    AccountReading, AddressReading, UserReading, ErasureReading, SessionReading, TokenReading,
    ServerKeyReading, SignInReading,
    ExplanationReading,
    KeptAnswerReading, SecretReading, RootKeyReading
{}
