// SPDX-License-Identifier: Apache-2.0
import TidebellLocation
import Foundation

// Archives of Apple's systems name the Objective-C classes. Foundation on Linux finds
// a class by such a name only when it was registered, before it reads: so we register it when
// the program starts, in the list of functions the loader calls before `main`.
#if os(Linux)
    @section(".init_array")
    @used
    private let registerAppleClassNames: @convention(c) () -> Void = {
        let unarchiver = NSKeyedUnarchiver.self
        unarchiver.setClass(CKRecord.self, forClassName: "CKRecord")
        unarchiver.setClass(CKRecordID.self, forClassName: "CKRecordID")
        unarchiver.setClass(CKRecordZoneID.self, forClassName: "CKRecordZoneID")
        unarchiver.setClass(CKReference.self, forClassName: "CKReference")
        unarchiver.setClass(CKServerChangeToken.self, forClassName: "CKServerChangeToken")
        unarchiver.setClass(CKQueryCursor.self, forClassName: "CKQueryCursor")
        unarchiver.setClass(AppleRecordValueStore.self, forClassName: "CKRecordValueStore")
        unarchiver.setClass(AppleRecordValueStore.self, forClassName: "CKEncryptedRecordValueStore")
        unarchiver.setClass(CLLocation.self, forClassName: "CLLocation")
        unarchiver.setClass(CKAsset.self, forClassName: "CKAsset")
        // How these stand in Apple's archives is not known: reading one is an error, where a
        // class that nobody registered would be one as well, but of another kind in every release.
        unarchiver.setClass(CKRecordZone.self, forClassName: "CKRecordZone")
        unarchiver.setClass(CKNotificationInfo.self, forClassName: "CKNotificationInfo")
        unarchiver.setClass(CKQuerySubscription.self, forClassName: "CKQuerySubscription")
        unarchiver.setClass(CKRecordZoneSubscription.self, forClassName: "CKRecordZoneSubscription")
        unarchiver.setClass(CKDatabaseSubscription.self, forClassName: "CKDatabaseSubscription")
        // What these two were called in archives of version 0.1.0.
        unarchiver.setClass(CKReference.self, forClassName: "CloudKit.CKRecordReference")
        unarchiver.setClass(CLLocation.self, forClassName: "CoreLocation.CLLocation")
    }
#endif
