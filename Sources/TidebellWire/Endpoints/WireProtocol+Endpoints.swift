// SPDX-License-Identifier: Apache-2.0

extension WireProtocol {
    /// All endpoints of the service.
    package static let endpoints: [any WireEndpoint.Type] = [
        ListZones.self, LookupZones.self, ModifyZones.self, FetchChangedZones.self,
        QueryRecords.self, LookupRecords.self, ModifyRecords.self, FetchRecordChanges.self,
        ResolveShares.self, AcceptShares.self, RequestShareAccess.self,
        UploadAssets.self, RereferenceAssets.self,
        FetchDatabaseChanges.self, FetchZoneChanges.self,
        ListSubscriptions.self, LookupSubscriptions.self, ModifySubscriptions.self,
        FetchCaller.self, LookupUsers.self, LookupUsersByEmail.self, LookupContacts.self,
        DiscoverUsers.self,
        CreateToken.self, RegisterToken.self,

        SignIn.self, BeginDeviceSignIn.self, FinishDeviceSignIn.self, SignOut.self,
        FetchWebAuthToken.self, ModifyPermission.self,
        StreamNotifications.self, AcknowledgeNotifications.self,
        FetchNotificationChanges.self, MarkNotificationsRead.self, ModifyBadge.self,

        ExplainPush.self, ExplainQuery.self, AddServerKey.self, ListServerKeys.self,
        RevokeServerKey.self,
        ExportSchema.self, ImportSchema.self, ValidateSchema.self, DiffSchema.self,
        DeploySchema.self, ListDeployments.self, IndexField.self, ResetSchema.self,
        CheckSchema.self,
        MoveClock.self, InjectFaults.self,
        ReportHealth.self, ReportReadiness.self, ReportVersion.self, ReportMetrics.self,
        PollCourier.self,
        ShowWelcome.self, SendScript.self, SendOpenAPI.self, SendReference.self, ShowShare.self,
        ShowSignIn.self, FinishSignIn.self, ShowDeviceSignIn.self, ShowAccount.self,
        ShowPasswordReset.self,
        ReceiveAsset.self, SendAsset.self,
    ]
}
