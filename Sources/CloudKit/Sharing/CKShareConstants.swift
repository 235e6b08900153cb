// SPDX-License-Identifier: Apache-2.0
// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The name of the record of a zone-wide share (SHARE-3).
public let CKRecordNameZoneWideShare: String = "cloudkit.zoneshare"

/// The older name of `CKShare.SystemFieldKey.title`.
@available(*, deprecated, renamed: "CKShare.SystemFieldKey.title")
public let CKShareTitleKey: String = "cloudkit.title"

/// The older name of `CKShare.SystemFieldKey.thumbnailImageData`.
@available(*, deprecated, renamed: "CKShare.SystemFieldKey.thumbnailImageData")
public let CKShareThumbnailImageDataKey: String = "cloudkit.thumbnailImageData"

/// The older name of `CKShare.SystemFieldKey.shareType`.
@available(*, deprecated, renamed: "CKShare.SystemFieldKey.shareType")
public let CKShareTypeKey: String = "cloudkit.type"

/// The older name of `CKShare.ParticipantAcceptanceStatus`.
@available(*, deprecated, renamed: "CKShare.ParticipantAcceptanceStatus")
public typealias CKShare_Participant_AcceptanceStatus = CKShareParticipantAcceptanceStatus

/// The older name of `CKShare.ParticipantPermission`.
@available(*, deprecated, renamed: "CKShare.ParticipantPermission")
public typealias CKShare_Participant_Permission = CKShareParticipantPermission

/// The older name of `CKShare.ParticipantRole`.
@available(*, deprecated, renamed: "CKShare.ParticipantRole")
public typealias CKShare_Participant_Role = CKShareParticipantRole

/// The older name of `CKShare.ParticipantType`.
@available(*, deprecated, renamed: "CKShare.ParticipantRole")
public typealias CKShare_Participant_ParticipantType = CKShareParticipantType
