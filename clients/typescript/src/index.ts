export { createRelayerClient, type RelayerClient } from './client.ts'
export * from './errors/api-error.ts'
export { RelayerConnectionError } from './errors/connection-error.ts'
export { RelayerError } from './errors/relayer-error.ts'
export {
  TransactionEndedError,
  TransactionUnseenError,
  WaitTimeoutError,
} from './errors/transaction-errors.ts'
export type { FollowOptions, RelayerEvent } from './events/follow.ts'
export type { paths } from './generated/api.ts'
export type { RelayerClientOptions, RelayerHttp } from './http.ts'
export type { Body, Data, OperationId, Options, Schemas } from './operation-types.ts'
export type { Page, Pages } from './pages.ts'
export type { AwaitedState, AwaitedStatus, Transaction, WaitOptions } from './transactions/wait-for.ts'
export {
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  type WebhookRequest,
  WebhookVerificationError,
} from './webhook.ts'
