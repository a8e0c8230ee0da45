import type { Secret } from '../security/secret.ts'

/** The reason for a pause. `operator`: a caller requested it · `gone`: the receiver answered with 410. */
export type PauseReason = 'operator' | 'gone'

/** A destination for events. `keys.ts` manages its signing keys. */
export interface Notification {
  readonly id: string
  readonly type: 'webhook'
  readonly url: string
  readonly hasSigningKey: boolean
  /** A caller of the API chose the url, so it may lead only to addresses that are allowed for callers. */
  readonly urlUntrusted?: true
  /** Present while the notification is paused. */
  readonly paused?: PauseReason
}

/** A notification of the configuration file. */
export interface NotificationConfig {
  readonly id: string
  readonly type: 'webhook'
  readonly url: string
  /** Signs deliveries. The service neither stores nor shows it. */
  readonly signingKey?: Secret
}
