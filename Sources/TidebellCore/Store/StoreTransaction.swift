// SPDX-License-Identifier: Apache-2.0

/// What can be written in a transaction, beside all that can be read: all topics, as an
/// engine implements them and ``StoreSteps`` hands them out.
package protocol StoreTransaction:
    StoreReader,
    ZoneWriting, RecordWriting, FieldIndexWriting, ShareWriting, SharedRecordWriting,
    SettlingWriting,
    SharedZoneWriting,
    FieldKeyWriting, AssetWriting, SchemaWriting, SubscriptionWriting,
    OutboxWriting, NotificationLogWriting, NotificationHistoryWriting, BadgeWriting,
    DeviceWriting, PushTokenWriting, WebhookWriting, AccountWriting, AddressWriting, UserWriting,
    ErasureWriting, SessionWriting, TokenWriting, ServerKeyWriting, SignInWriting,
    ExplanationWriting,
    KeptAnswerWriting,
    RetentionWriting, SecretWriting, RootKeyWriting
{}
