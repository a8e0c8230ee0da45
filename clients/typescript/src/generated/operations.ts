// Generated from openapi.yaml by `npm run generate`. Do not edit.

import type { Body, Data, DryRunOf, Options, SentBy } from '../operation-types.ts'
import type { Operation } from '../operation.ts'
import type { Pages } from '../pages.ts'

/** The fields whose integers can exceed 2^53. */
export const WIDE_FIELDS: ReadonlySet<string> = new Set(["amount","balance","before_absolute_time","before_relative_time","below","block","block_number","bump_to","compute_units","dest_amount","dest_min","duration","fee","fee_at_most","fee_charged","fees","gas_limit","gas_price","gas_price_cap","gas_used","head","hi","hi_hi","hi_lo","i64","last_valid_block_height","ledger","limit","lo","lo_hi","lo_lo","log_index","max_allowed_fee","max_allowed_fee_lamports","max_amount","max_fee","max_fee_per_gas","max_per_day","max_priority_fee_per_gas","max_token_balance","min_amount","min_balance","missing","next_on_chain","nonce","own","retain_min_amount","send_amount","send_max","starting_balance","timepoint","to","tx_fee_cap","u64","value","warn_balance"])

/** What the client has to know of each operation to call it, by resource and method. */
export const OPERATIONS: Readonly<Record<keyof Resources, Readonly<Record<string, Operation>>>> = {
  health: {
    get: { method: "get", path: "/api/v1/health" },
    getReadiness: { method: "get", path: "/api/v1/ready", answers: 503 },
    getVersion: { method: "get", path: "/api/v1/version" },
  },
  metrics: {
    list: { method: "get", path: "/api/v1/metrics" },
    get: { method: "get", path: "/api/v1/metrics/{metric_name}" },
    scrape: { method: "get", path: "/api/v1/debug/metrics/scrape" },
  },
  relayers: {
    list: { method: "get", path: "/api/v1/relayers", paging: "page" },
    create: { method: "post", path: "/api/v1/relayers", body: true },
    get: { method: "get", path: "/api/v1/relayers/{relayer_id}" },
    delete: { method: "delete", path: "/api/v1/relayers/{relayer_id}" },
    update: { method: "patch", path: "/api/v1/relayers/{relayer_id}", body: true },
    acceptNonces: { method: "post", path: "/api/v1/relayers/{relayer_id}/accept-nonces", body: true },
    getStatus: { method: "get", path: "/api/v1/relayers/{relayer_id}/status" },
    getBalance: { method: "get", path: "/api/v1/relayers/{relayer_id}/balance" },
    getUsage: { method: "get", path: "/api/v1/relayers/{relayer_id}/usage" },
    listAbis: { method: "get", path: "/api/v1/relayers/{relayer_id}/abis", paging: "page" },
    getAbi: { method: "get", path: "/api/v1/relayers/{relayer_id}/abis/{address}" },
    registerAbi: { method: "put", path: "/api/v1/relayers/{relayer_id}/abis/{address}", body: true },
    deleteAbi: { method: "delete", path: "/api/v1/relayers/{relayer_id}/abis/{address}" },
    signMessage: { method: "post", path: "/api/v1/relayers/{relayer_id}/sign", body: true },
    signTypedData: { method: "post", path: "/api/v1/relayers/{relayer_id}/sign-typed-data", body: true },
    signTransaction: { method: "post", path: "/api/v1/relayers/{relayer_id}/sign-transaction", body: true },
    signAuthorizationEntry: { method: "post", path: "/api/v1/relayers/{relayer_id}/sign-authorization-entry", body: true },
    callRpc: { method: "post", path: "/api/v1/relayers/{relayer_id}/rpc", body: true },
  },
  transactions: {
    search: { method: "get", path: "/api/v1/transactions", paging: "cursor" },
    list: { method: "get", path: "/api/v1/relayers/{relayer_id}/transactions", paging: "page" },
    send: { method: "post", path: "/api/v1/relayers/{relayer_id}/transactions", body: true, keyed: true },
    sendBatch: { method: "post", path: "/api/v1/relayers/{relayer_id}/transactions/batch", body: true },
    quoteSponsored: { method: "post", path: "/api/v1/relayers/{relayer_id}/transactions/sponsored/quote", body: true },
    buildSponsored: { method: "post", path: "/api/v1/relayers/{relayer_id}/transactions/sponsored/build", body: true },
    getByNonce: { method: "get", path: "/api/v1/relayers/{relayer_id}/transactions/by-nonce/{nonce}" },
    deletePending: { method: "delete", path: "/api/v1/relayers/{relayer_id}/transactions/pending" },
    decideMany: { method: "post", path: "/api/v1/relayers/{relayer_id}/transactions/decisions", body: true },
    get: { method: "get", path: "/api/v1/relayers/{relayer_id}/transactions/{transaction_id}" },
    replace: { method: "put", path: "/api/v1/relayers/{relayer_id}/transactions/{transaction_id}", body: true },
    cancel: { method: "delete", path: "/api/v1/relayers/{relayer_id}/transactions/{transaction_id}" },
    decide: { method: "post", path: "/api/v1/relayers/{relayer_id}/transactions/{transaction_id}/decision", body: true },
    diagnose: { method: "get", path: "/api/v1/relayers/{relayer_id}/transactions/{transaction_id}/diagnosis" },
    getReceipt: { method: "get", path: "/api/v1/relayers/{relayer_id}/transactions/{transaction_id}/receipt" },
  },
  approvals: {
    get: { method: "get", path: "/api/v1/relayers/{relayer_id}/transactions/{transaction_id}/approval" },
    decide: { method: "post", path: "/api/v1/relayers/{relayer_id}/transactions/{transaction_id}/approval", body: true },
    list: { method: "get", path: "/api/v1/approvals", paging: "page" },
  },
  schedules: {
    list: { method: "get", path: "/api/v1/schedules", paging: "page" },
    create: { method: "post", path: "/api/v1/relayers/{relayer_id}/schedules", body: true },
    get: { method: "get", path: "/api/v1/relayers/{relayer_id}/schedules/{schedule_id}" },
    delete: { method: "delete", path: "/api/v1/relayers/{relayer_id}/schedules/{schedule_id}" },
    update: { method: "patch", path: "/api/v1/relayers/{relayer_id}/schedules/{schedule_id}", body: true },
    listRuns: { method: "get", path: "/api/v1/relayers/{relayer_id}/schedules/{schedule_id}/runs", paging: "page" },
    listNextRuns: { method: "get", path: "/api/v1/relayers/{relayer_id}/schedules/{schedule_id}/next-runs" },
    decide: { method: "post", path: "/api/v1/relayers/{relayer_id}/schedules/{schedule_id}/approval", body: true },
  },
  notifications: {
    list: { method: "get", path: "/api/v1/notifications", paging: "page" },
    create: { method: "post", path: "/api/v1/notifications", body: true },
    get: { method: "get", path: "/api/v1/notifications/{notification_id}" },
    delete: { method: "delete", path: "/api/v1/notifications/{notification_id}" },
    update: { method: "patch", path: "/api/v1/notifications/{notification_id}", body: true },
  },
  events: {
    list: { method: "get", path: "/api/v1/events", paging: "after" },
    createStreamTicket: { method: "post", path: "/api/v1/events/stream-tickets", body: true },
  },
  alerts: {
    list: { method: "get", path: "/api/v1/alerts", paging: "page" },
  },
  deliveries: {
    list: { method: "get", path: "/api/v1/notifications/{notification_id}/deliveries", paging: "page" },
    get: { method: "get", path: "/api/v1/notifications/{notification_id}/deliveries/{delivery_id}" },
    redeliver: { method: "post", path: "/api/v1/notifications/{notification_id}/deliveries/{delivery_id}/redeliver" },
    redeliverAll: { method: "post", path: "/api/v1/notifications/{notification_id}/redeliver", body: true },
    sendTestEvent: { method: "post", path: "/api/v1/notifications/{notification_id}/test" },
    pauseNotification: { method: "post", path: "/api/v1/notifications/{notification_id}/pause" },
    resumeNotification: { method: "post", path: "/api/v1/notifications/{notification_id}/resume" },
    rotateSigningKey: { method: "post", path: "/api/v1/notifications/{notification_id}/signing-key", body: true },
  },
  reports: {
    getSpending: { method: "get", path: "/api/v1/reports/spending" },
    exportTransactions: { method: "get", path: "/api/v1/reports/transactions" },
    getActivity: { method: "get", path: "/api/v1/reports/activity" },
  },
  audit: {
    list: { method: "get", path: "/api/v1/audit", paging: "before" },
  },
  signers: {
    list: { method: "get", path: "/api/v1/signers", paging: "page" },
    create: { method: "post", path: "/api/v1/signers", body: true },
    get: { method: "get", path: "/api/v1/signers/{signer_id}" },
    delete: { method: "delete", path: "/api/v1/signers/{signer_id}" },
    listKeyCreations: { method: "get", path: "/api/v1/key-creations", paging: "page" },
    createKey: { method: "post", path: "/api/v1/key-creations", body: true },
    forgetKeyCreation: { method: "delete", path: "/api/v1/key-creations/{signer_id}" },
  },
  networks: {
    list: { method: "get", path: "/api/v1/networks", paging: "page" },
    get: { method: "get", path: "/api/v1/networks/{network_id}" },
    update: { method: "patch", path: "/api/v1/networks/{network_id}", body: true },
    reset: { method: "post", path: "/api/v1/networks/{network_id}/reset" },
  },
  apiKeys: {
    list: { method: "get", path: "/api/v1/api-keys", paging: "page" },
    create: { method: "post", path: "/api/v1/api-keys", body: true },
    getCurrent: { method: "get", path: "/api/v1/current-api-key" },
    listRoles: { method: "get", path: "/api/v1/roles" },
    get: { method: "get", path: "/api/v1/api-keys/{api_key_id}" },
    delete: { method: "delete", path: "/api/v1/api-keys/{api_key_id}" },
    update: { method: "patch", path: "/api/v1/api-keys/{api_key_id}", body: true },
    getUsage: { method: "get", path: "/api/v1/api-keys/{api_key_id}/usage" },
    rotate: { method: "post", path: "/api/v1/api-keys/{api_key_id}/rotate", body: true },
  },
  sessions: {
    list: { method: "get", path: "/api/v1/sessions", paging: "page" },
    end: { method: "delete", path: "/api/v1/sessions/{session_id}" },
    endCurrent: { method: "delete", path: "/api/v1/current-session" },
  },
  proposals: {
    list: { method: "get", path: "/api/v1/proposals", paging: "page" },
    decide: { method: "post", path: "/api/v1/proposals/{proposal_id}/decision", body: true },
  },
  plugins: {
    list: { method: "get", path: "/api/v1/plugins", paging: "page" },
    get: { method: "get", path: "/api/v1/plugins/{plugin_id}" },
    update: { method: "patch", path: "/api/v1/plugins/{plugin_id}", body: true },
    callGet: { method: "get", path: "/api/v1/plugins/{plugin_id}/call" },
    call: { method: "post", path: "/api/v1/plugins/{plugin_id}/call", body: true },
    callRouteGet: { method: "get", path: "/api/v1/plugins/{plugin_id}/call/{route}" },
    callRoute: { method: "post", path: "/api/v1/plugins/{plugin_id}/call/{route}", body: true },
  },
}

/** The operations of the service, by the tags of its contract. */
export interface Resources {
  readonly health: {
    /** Check that the process is alive: operation `getHealth`. It needs no API key. */
    get(options?: Options<'getHealth'>): Promise<Data<'getHealth'>>
    /** Check that the service can do its work: operation `getReadiness`. It needs no API key. */
    getReadiness(options?: Options<'getReadiness'>): Promise<Data<'getReadiness'>>
    /** Get the version of the service: operation `getVersion`. It needs an API key, and no scope. */
    getVersion(options?: Options<'getVersion'>): Promise<Data<'getVersion'>>
  }
  readonly metrics: {
    /** Read all metrics, or list their names: operation `listMetrics`. It needs the scope `metrics:read`. */
    list(options?: Options<'listMetrics'>): Promise<Data<'listMetrics'>>
    /** Read one metric: operation `metricDetail`. It needs the scope `metrics:read`. */
    get(metricName: string, options?: Options<'metricDetail'>): Promise<Data<'metricDetail'>>
    /** Read all metrics: operation `scrapeMetrics`. It needs the scope `metrics:read`. */
    scrape(options?: Options<'scrapeMetrics'>): Promise<Data<'scrapeMetrics'>>
  }
  readonly relayers: {
    /** List relayers: operation `listRelayers`. It needs the scope `relayers:read`. */
    list(options?: Options<'listRelayers'>): Pages<Data<'listRelayers'>[number]>
    /** Create a relayer: operation `createRelayer`. It needs the scope `relayers:admin`. */
    create(body: Body<'createRelayer'>, options?: Options<'createRelayer'>): Promise<Data<'createRelayer'>>
    /** Get a relayer: operation `getRelayer`. It needs the scope `relayers:read`. */
    get(relayerId: string, options?: Options<'getRelayer'>): Promise<Data<'getRelayer'>>
    /** Delete a relayer: operation `deleteRelayer`. It needs the scope `relayers:admin`. */
    delete(relayerId: string, options?: Options<'deleteRelayer'>): Promise<Data<'deleteRelayer'>>
    /** Change a relayer: operation `updateRelayer`. It needs the scope `relayers:write`. */
    update(relayerId: string, body: Body<'updateRelayer'>, options?: Options<'updateRelayer'>): Promise<Data<'updateRelayer'>>
    /** Accept nonces and transactions that the records do not explain: operation `acceptNonces`. It needs the scope `relayers:admin`. */
    acceptNonces(relayerId: string, body: Body<'acceptNonces'>, options?: Options<'acceptNonces'>): Promise<Data<'acceptNonces'>>
    /** Get the state of a relayer: operation `getRelayerStatus`. It needs the scope `relayers:read`. */
    getStatus(relayerId: string, options?: Options<'getRelayerStatus'>): Promise<Data<'getRelayerStatus'>>
    /** Get the balance that a relayer can spend: operation `getRelayerBalance`. It needs the scope `relayers:read`. */
    getBalance(relayerId: string, options?: Options<'getRelayerBalance'>): Promise<Data<'getRelayerBalance'>>
    /** Get what a relayer has spent of its limits: operation `getRelayerUsage`. It needs the scope `relayers:read`. */
    getUsage(relayerId: string, options?: Options<'getRelayerUsage'>): Promise<Data<'getRelayerUsage'>>
    /** List the ABIs of a relayer: operation `listAbis`. It needs the scope `relayers:read`. */
    listAbis(relayerId: string, options?: Options<'listAbis'>): Pages<Data<'listAbis'>[number]>
    /** Get the ABI of a contract: operation `getAbi`. It needs the scope `relayers:read`. */
    getAbi(relayerId: string, address: string, options?: Options<'getAbi'>): Promise<Data<'getAbi'>>
    /** Register the ABI of a contract: operation `registerAbi`. It needs the scope `relayers:write`. */
    registerAbi(relayerId: string, address: string, body: Body<'registerAbi'>, options?: Options<'registerAbi'>): Promise<Data<'registerAbi'>>
    /** Delete the ABI of a contract: operation `deleteAbi`. It needs the scope `relayers:write`. */
    deleteAbi(relayerId: string, address: string, options?: Options<'deleteAbi'>): Promise<Data<'deleteAbi'>>
    /** Sign a message with a relayer: operation `signMessage`. It needs the scope `sign`. */
    signMessage(relayerId: string, body: Body<'signMessage'>, options?: Options<'signMessage'>): Promise<Data<'signMessage'>>
    /** Sign structured data with a relayer: operation `signTypedData`. It needs the scope `sign`. */
    signTypedData(relayerId: string, body: Body<'signTypedData'>, options?: Options<'signTypedData'>): Promise<Data<'signTypedData'>>
    /** Sign a transaction and send it yourself: operation `signTransaction`. It needs the scope `sign`. */
    signTransaction(relayerId: string, body: Body<'signTransaction'>, options?: Options<'signTransaction'>): Promise<Data<'signTransaction'>>
    /** Authorize smart contract calls in a third party's transaction: operation `signAuthorizationEntry`. It needs the scope `sign`. */
    signAuthorizationEntry(relayerId: string, body: Body<'signAuthorizationEntry'>, options?: Options<'signAuthorizationEntry'>): Promise<Data<'signAuthorizationEntry'>>
    /** Call the network of a relayer, or the relayer as a wallet: operation `callRpc`. It needs the scope `rpc`. */
    callRpc(relayerId: string, body: Body<'callRpc'>, options?: Options<'callRpc'>): Promise<Data<'callRpc'>>
  }
  readonly transactions: {
    /** Search the transactions of all relayers: operation `searchTransactions`. It needs the scope `transactions:read`. */
    search(options?: Options<'searchTransactions'>): Pages<Data<'searchTransactions'>[number]>
    /** List the transactions of a relayer: operation `listTransactions`. It needs the scope `transactions:read`. */
    list(relayerId: string, options?: Options<'listTransactions'>): Pages<Data<'listTransactions'>[number]>
    /** Send a transaction: operation `sendTransaction`. It needs the scope `transactions:write`. */
    send(relayerId: string, body: Body<'sendTransaction'>, options: Options<'sendTransaction'> & { dry_run: true }): Promise<DryRunOf<'sendTransaction'>>
    /** Send a transaction: operation `sendTransaction`. It needs the scope `transactions:write`. */
    send(relayerId: string, body: Body<'sendTransaction'>, options?: Options<'sendTransaction'> & { dry_run?: false }): Promise<SentBy<'sendTransaction'>>
    /** Send many transactions in one request: operation `sendTransactionBatch`. It needs the scope `transactions:write`. */
    sendBatch(relayerId: string, body: Body<'sendTransactionBatch'>, options?: Options<'sendTransactionBatch'>): Promise<Data<'sendTransactionBatch'>>
    /** Quote a fee in a token: operation `quoteSponsoredTransaction`. It needs the scope `transactions:write`. */
    quoteSponsored(relayerId: string, body: Body<'quoteSponsoredTransaction'>, options?: Options<'quoteSponsoredTransaction'>): Promise<Data<'quoteSponsoredTransaction'>>
    /** Build a transaction that pays its fee in a token: operation `buildSponsoredTransaction`. It needs the scope `transactions:write`. */
    buildSponsored(relayerId: string, body: Body<'buildSponsoredTransaction'>, options?: Options<'buildSponsoredTransaction'>): Promise<Data<'buildSponsoredTransaction'>>
    /** Get the transaction that has a nonce: operation `getTransactionByNonce`. It needs the scope `transactions:read`. */
    getByNonce(relayerId: string, nonce: bigint | number, options?: Options<'getTransactionByNonce'>): Promise<Data<'getTransactionByNonce'>>
    /** Cancel every waiting transaction: operation `deletePendingTransactions`. It needs the scope `transactions:write`. */
    deletePending(relayerId: string, options?: Options<'deletePendingTransactions'>): Promise<Data<'deletePendingTransactions'>>
    /** Decide what happened to many transactions: operation `decideTransactions`. It needs the scope `relayers:admin`. */
    decideMany(relayerId: string, body: Body<'decideTransactions'>, options?: Options<'decideTransactions'>): Promise<Data<'decideTransactions'>>
    /** Get a transaction: operation `getTransactionById`. It needs the scope `transactions:read`. */
    get(relayerId: string, transactionId: string, options?: Options<'getTransactionById'>): Promise<Data<'getTransactionById'>>
    /** Replace a transaction with a new one: operation `replaceTransaction`. It needs the scope `transactions:write`. */
    replace(relayerId: string, transactionId: string, body: Body<'replaceTransaction'>, options: Options<'replaceTransaction'> & { dry_run: true }): Promise<DryRunOf<'replaceTransaction'>>
    /** Replace a transaction with a new one: operation `replaceTransaction`. It needs the scope `transactions:write`. */
    replace(relayerId: string, transactionId: string, body: Body<'replaceTransaction'>, options?: Options<'replaceTransaction'> & { dry_run?: false }): Promise<SentBy<'replaceTransaction'>>
    /** Cancel a transaction: operation `cancelTransaction`. It needs the scope `transactions:write`. */
    cancel(relayerId: string, transactionId: string, options?: Options<'cancelTransaction'>): Promise<Data<'cancelTransaction'>>
    /** Decide what happened to a transaction: operation `decideTransaction`. It needs the scope `relayers:admin`. */
    decide(relayerId: string, transactionId: string, body: Body<'decideTransaction'>, options?: Options<'decideTransaction'>): Promise<Data<'decideTransaction'>>
    /** Explain why a transaction waits: operation `diagnoseTransaction`. It needs the scope `transactions:read`. */
    diagnose(relayerId: string, transactionId: string, options?: Options<'diagnoseTransaction'>): Promise<Data<'diagnoseTransaction'>>
    /** Get the receipt of a transaction with its logs: operation `getTransactionReceipt`. It needs the scope `transactions:read`. */
    getReceipt(relayerId: string, transactionId: string, options?: Options<'getTransactionReceipt'>): Promise<Data<'getTransactionReceipt'>>
  }
  readonly approvals: {
    /** Get the approval of a transaction: operation `getApproval`. It needs the scope `transactions:read`. */
    get(relayerId: string, transactionId: string, options?: Options<'getApproval'>): Promise<Data<'getApproval'>>
    /** Approve or refuse a transaction: operation `decideApproval`. It needs the scope `transactions:approve`. */
    decide(relayerId: string, transactionId: string, body: Body<'decideApproval'>, options?: Options<'decideApproval'>): Promise<Data<'decideApproval'>>
    /** List approvals: operation `listApprovals`. It needs the scope `transactions:read`. */
    list(options?: Options<'listApprovals'>): Pages<Data<'listApprovals'>[number]>
  }
  readonly schedules: {
    /** List schedules: operation `listSchedules`. It needs the scope `transactions:read`. */
    list(options?: Options<'listSchedules'>): Pages<Data<'listSchedules'>[number]>
    /** Create a schedule: operation `createSchedule`. It needs the scope `transactions:write`. */
    create(relayerId: string, body: Body<'createSchedule'>, options: Options<'createSchedule'> & { dry_run: true }): Promise<DryRunOf<'createSchedule'>>
    /** Create a schedule: operation `createSchedule`. It needs the scope `transactions:write`. */
    create(relayerId: string, body: Body<'createSchedule'>, options?: Options<'createSchedule'> & { dry_run?: false }): Promise<SentBy<'createSchedule'>>
    /** Get a schedule: operation `getSchedule`. It needs the scope `transactions:read`. */
    get(relayerId: string, scheduleId: string, options?: Options<'getSchedule'>): Promise<Data<'getSchedule'>>
    /** Delete a schedule: operation `deleteSchedule`. It needs the scope `transactions:write`. */
    delete(relayerId: string, scheduleId: string, options?: Options<'deleteSchedule'>): Promise<Data<'deleteSchedule'>>
    /** Change, pause or resume a schedule: operation `updateSchedule`. It needs the scope `transactions:write`. */
    update(relayerId: string, scheduleId: string, body: Body<'updateSchedule'>, options?: Options<'updateSchedule'>): Promise<Data<'updateSchedule'>>
    /** List the runs of a schedule: operation `listScheduleRuns`. It needs the scope `transactions:read`. */
    listRuns(relayerId: string, scheduleId: string, options?: Options<'listScheduleRuns'>): Pages<Data<'listScheduleRuns'>[number]>
    /** List the next runs of a schedule: operation `listNextRuns`. It needs the scope `transactions:read`. */
    listNextRuns(relayerId: string, scheduleId: string, options?: Options<'listNextRuns'>): Promise<Data<'listNextRuns'>>
    /** Approve or refuse a schedule: operation `decideSchedule`. It needs the scope `transactions:approve`. */
    decide(relayerId: string, scheduleId: string, body: Body<'decideSchedule'>, options?: Options<'decideSchedule'>): Promise<Data<'decideSchedule'>>
  }
  readonly notifications: {
    /** List notifications: operation `listNotifications`. It needs the scope `notifications:read`. */
    list(options?: Options<'listNotifications'>): Pages<Data<'listNotifications'>[number]>
    /** Create a notification: operation `createNotification`. It needs the scope `notifications:write`. */
    create(body: Body<'createNotification'>, options?: Options<'createNotification'>): Promise<Data<'createNotification'>>
    /** Get a notification: operation `getNotification`. It needs the scope `notifications:read`. */
    get(notificationId: string, options?: Options<'getNotification'>): Promise<Data<'getNotification'>>
    /** Delete a notification: operation `deleteNotification`. It needs the scope `notifications:write`. */
    delete(notificationId: string, options?: Options<'deleteNotification'>): Promise<Data<'deleteNotification'>>
    /** Change a notification: operation `updateNotification`. It needs the scope `notifications:write`. */
    update(notificationId: string, body: Body<'updateNotification'>, options?: Options<'updateNotification'>): Promise<Data<'updateNotification'>>
  }
  readonly events: {
    /** Read the event log: operation `listEvents`. It needs the scope `events:read`. */
    list(options?: Options<'listEvents'>): Pages<Data<'listEvents'>[number]>
    /** Get a ticket for an event stream: operation `createStreamTicket`. It needs the scope `events:read`. */
    createStreamTicket(body: Body<'createStreamTicket'>, options?: Options<'createStreamTicket'>): Promise<Data<'createStreamTicket'>>
  }
  readonly alerts: {
    /** List the firing alerts: operation `listAlerts`. It needs the scope `events:read`. */
    list(options?: Options<'listAlerts'>): Pages<Data<'listAlerts'>[number]>
  }
  readonly deliveries: {
    /** List the deliveries of a notification: operation `listDeliveries`. It needs the scope `notifications:read`. */
    list(notificationId: string, options?: Options<'listDeliveries'>): Pages<Data<'listDeliveries'>[number]>
    /** Get a delivery with its newest request and response: operation `getDelivery`. It needs the scope `notifications:read`. */
    get(notificationId: string, deliveryId: string, options?: Options<'getDelivery'>): Promise<Data<'getDelivery'>>
    /** Deliver again: operation `redeliverDelivery`. It needs the scope `notifications:write`. */
    redeliver(notificationId: string, deliveryId: string, options?: Options<'redeliverDelivery'>): Promise<Data<'redeliverDelivery'>>
    /** Deliver many again: operation `redeliverDeliveries`. It needs the scope `notifications:write`. */
    redeliverAll(notificationId: string, body: Body<'redeliverDeliveries'>, options?: Options<'redeliverDeliveries'>): Promise<Data<'redeliverDeliveries'>>
    /** Send a test event: operation `sendTestEvent`. It needs the scope `notifications:write`. */
    sendTestEvent(notificationId: string, options?: Options<'sendTestEvent'>): Promise<Data<'sendTestEvent'>>
    /** Pause a notification: operation `pauseNotification`. It needs the scope `notifications:write`. */
    pauseNotification(notificationId: string, options?: Options<'pauseNotification'>): Promise<Data<'pauseNotification'>>
    /** Resume a notification: operation `resumeNotification`. It needs the scope `notifications:write`. */
    resumeNotification(notificationId: string, options?: Options<'resumeNotification'>): Promise<Data<'resumeNotification'>>
    /** Change the signing key: operation `rotateSigningKey`. It needs the scope `notifications:write`. */
    rotateSigningKey(notificationId: string, body: Body<'rotateSigningKey'>, options?: Options<'rotateSigningKey'>): Promise<Data<'rotateSigningKey'>>
  }
  readonly reports: {
    /** Report fees and values: operation `getSpendingReport`. It needs the scope `transactions:read`. */
    getSpending(options?: Options<'getSpendingReport'>): Promise<Data<'getSpendingReport'>>
    /** Export transactions as CSV: operation `exportTransactions`. It needs the scope `transactions:read`. */
    exportTransactions(options?: Options<'exportTransactions'>): Promise<Data<'exportTransactions'>>
    /** Report what was sent, spent and waited: operation `getActivity`. It needs the scope `transactions:read`. */
    getActivity(options?: Options<'getActivity'>): Promise<Data<'getActivity'>>
  }
  readonly audit: {
    /** Read the audit log: operation `listAuditEntries`. It needs the scope `audit:read`. */
    list(options?: Options<'listAuditEntries'>): Pages<Data<'listAuditEntries'>[number]>
  }
  readonly signers: {
    /** List signers: operation `listSigners`. It needs the scope `signers:read`. */
    list(options?: Options<'listSigners'>): Pages<Data<'listSigners'>[number]>
    /** Create a signer: operation `createSigner`. It needs the scope `signers:admin`. */
    create(body: Body<'createSigner'>, options?: Options<'createSigner'>): Promise<Data<'createSigner'>>
    /** Get a signer: operation `getSigner`. It needs the scope `signers:read`. */
    get(signerId: string, options?: Options<'getSigner'>): Promise<Data<'getSigner'>>
    /** Delete a signer: operation `deleteSigner`. It needs the scope `signers:admin`. */
    delete(signerId: string, options?: Options<'deleteSigner'>): Promise<Data<'deleteSigner'>>
    /** List keys created in key services: operation `listKeyCreations`. It needs the scope `signers:read`. */
    listKeyCreations(options?: Options<'listKeyCreations'>): Pages<Data<'listKeyCreations'>[number]>
    /** Let a key service create a key: operation `createKey`. It needs the scope `signers:create-keys`. */
    createKey(body: Body<'createKey'>, options?: Options<'createKey'>): Promise<Data<'createKey'>>
    /** Forget a created key: operation `forgetKeyCreation`. It needs the scope `signers:create-keys`. */
    forgetKeyCreation(signerId: string, options?: Options<'forgetKeyCreation'>): Promise<Data<'forgetKeyCreation'>>
  }
  readonly networks: {
    /** List networks: operation `listNetworks`. It needs the scope `networks:read`. */
    list(options?: Options<'listNetworks'>): Pages<Data<'listNetworks'>[number]>
    /** Get a network: operation `getNetwork`. It needs the scope `networks:read`. */
    get(networkId: string, options?: Options<'getNetwork'>): Promise<Data<'getNetwork'>>
    /** Change the endpoints of a network: operation `updateNetwork`. It needs the scope `networks:admin`. */
    update(networkId: string, body: Body<'updateNetwork'>, options?: Options<'updateNetwork'>): Promise<Data<'updateNetwork'>>
    /** Start over on a test network whose chain was reset: operation `resetNetwork`. It needs the scope `networks:admin`. */
    reset(networkId: string, options?: Options<'resetNetwork'>): Promise<Data<'resetNetwork'>>
  }
  readonly apiKeys: {
    /** List API keys: operation `listApiKeys`. It needs the scope `api-keys:read`. */
    list(options?: Options<'listApiKeys'>): Pages<Data<'listApiKeys'>[number]>
    /** Create an API key: operation `createApiKey`. It needs the scope `api-keys:admin`. */
    create(body: Body<'createApiKey'>, options?: Options<'createApiKey'>): Promise<Data<'createApiKey'>>
    /** Get the API key of this request: operation `getCurrentApiKey`. It needs an API key, and no scope. */
    getCurrent(options?: Options<'getCurrentApiKey'>): Promise<Data<'getCurrentApiKey'>>
    /** List the roles: operation `listRoles`. It needs an API key, and no scope. */
    listRoles(options?: Options<'listRoles'>): Promise<Data<'listRoles'>>
    /** Get an API key: operation `getApiKey`. It needs the scope `api-keys:read`. */
    get(apiKeyId: string, options?: Options<'getApiKey'>): Promise<Data<'getApiKey'>>
    /** Delete an API key: operation `deleteApiKey`. It needs the scope `api-keys:admin`. */
    delete(apiKeyId: string, options?: Options<'deleteApiKey'>): Promise<Data<'deleteApiKey'>>
    /** Change an API key: operation `updateApiKey`. It needs the scope `api-keys:admin`. */
    update(apiKeyId: string, body: Body<'updateApiKey'>, options?: Options<'updateApiKey'>): Promise<Data<'updateApiKey'>>
    /** Get what an API key has spent of its limits: operation `getApiKeyUsage`. It needs the scope `api-keys:read`. */
    getUsage(apiKeyId: string, options?: Options<'getApiKeyUsage'>): Promise<Data<'getApiKeyUsage'>>
    /** Give an API key a new secret: operation `rotateApiKey`. It needs the scope `api-keys:admin`. */
    rotate(apiKeyId: string, body: Body<'rotateApiKey'>, options?: Options<'rotateApiKey'>): Promise<Data<'rotateApiKey'>>
  }
  readonly sessions: {
    /** List the sessions of people: operation `listSessions`. It needs the scope `api-keys:read`. */
    list(options?: Options<'listSessions'>): Pages<Data<'listSessions'>[number]>
    /** Sign a person out: operation `endSession`. It needs the scope `api-keys:admin`. */
    end(sessionId: string, options?: Options<'endSession'>): Promise<Data<'endSession'>>
    /** Sign out: operation `endCurrentSession`. It needs an API key, and no scope. */
    endCurrent(options?: Options<'endCurrentSession'>): Promise<Data<'endCurrentSession'>>
  }
  readonly proposals: {
    /** List proposals: operation `listProposals`. It needs an API key, and no scope. */
    list(options?: Options<'listProposals'>): Pages<Data<'listProposals'>[number]>
    /** Approve or refuse a proposal: operation `decideProposal`. It needs an API key, and no scope. */
    decide(proposalId: string, body: Body<'decideProposal'>, options?: Options<'decideProposal'>): Promise<Data<'decideProposal'>>
  }
  readonly plugins: {
    /** List plugins: operation `listPlugins`. It needs the scope `plugins:read`. */
    list(options?: Options<'listPlugins'>): Pages<Data<'listPlugins'>[number]>
    /** Get a plugin: operation `getPlugin`. It needs the scope `plugins:read`. */
    get(pluginId: string, options?: Options<'getPlugin'>): Promise<Data<'getPlugin'>>
    /** Change the settings of a plugin: operation `updatePlugin`. It needs the scope `plugins:admin`. */
    update(pluginId: string, body: Body<'updatePlugin'>, options?: Options<'updatePlugin'>): Promise<Data<'updatePlugin'>>
    /** Call a plugin with GET: operation `callPluginGet`. It needs the scope `plugins:call`. */
    callGet(pluginId: string, options?: Options<'callPluginGet'>): Promise<Data<'callPluginGet'>>
    /** Call a plugin: operation `callPlugin`. It needs the scope `plugins:call`. */
    call(pluginId: string, body: Body<'callPlugin'>, options?: Options<'callPlugin'>): Promise<Data<'callPlugin'>>
    /** Call a route of a plugin with GET: operation `callPluginRouteGet`. It needs the scope `plugins:call`. */
    callRouteGet(pluginId: string, route: string, options?: Options<'callPluginRouteGet'>): Promise<Data<'callPluginRouteGet'>>
    /** Call a route of a plugin: operation `callPluginRoute`. It needs the scope `plugins:call`. */
    callRoute(pluginId: string, route: string, body: Body<'callPluginRoute'>, options?: Options<'callPluginRoute'>): Promise<Data<'callPluginRoute'>>
  }
}
