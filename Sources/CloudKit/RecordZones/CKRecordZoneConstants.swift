// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The owner name that stands for the signed-in user (ZONE-8).
public let CKCurrentUserDefaultName: String = "__defaultOwner__"

/// The owner name that stands for the signed-in user (ZONE-8).
@available(*, deprecated, renamed: "CKCurrentUserDefaultName")
public let CKOwnerDefaultName: String = "__defaultOwner__"

/// The name of the default zone of a database (ZONE-1).
@available(*, deprecated, renamed: "CKRecordZone.ID.defaultZoneName")
public let CKRecordZoneDefaultName: String = "_defaultZone"
