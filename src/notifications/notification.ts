/** A configured destination for events. The signing key itself never leaves the configuration. */
export interface Notification {
  readonly id: string
  readonly type: 'webhook'
  readonly url: string
  readonly hasSigningKey: boolean
}
