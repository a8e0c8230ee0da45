import type { Secret } from '../security/secret.ts'

/** The reason for a pause: a caller asked for it, or the receiver answered that it is gone (410). */
export type PauseReason = 'operator' | 'gone'

/** A configured destination for events. Signing keys are in `keys.ts`. */
export interface Notification {
  readonly id: string
  readonly type: 'webhook'
  readonly url: string
  readonly hasSigningKey: boolean
  /** A caller of the API chose the url: it leads only where callers may lead us. */
  readonly urlUntrusted?: true
  /** Set while nothing is sent to it. */
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
