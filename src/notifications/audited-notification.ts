import { changedFields } from '../audit/changed-fields.ts'
import { maskWebhookUrl } from './mask-webhook-url.ts'
import type { Notification } from './notification.ts'

/** Gives the form of a notification in the audit log. Of its url there are scheme and host only, because stored urls are sealed. */
export function auditedNotification({ id, type, url, hasSigningKey, paused }: Notification): object {
  return {
    id,
    type,
    url: maskWebhookUrl({ url }),
    has_signing_key: hasSigningKey,
    ...(paused !== undefined && { paused: true, paused_reason: paused }),
  }
}

/** Gives the fields that a change of a notification changed, for the audit log. `isNewKey`: it has another signing key, or none. */
export function notificationChanges(before: Notification, after: Notification, isNewKey: boolean) {
  return changedFields({
    before: { notification: before, key: 'before' },
    after: { notification: after, key: isNewKey ? 'after' : 'before' },
    show: ({ notification }) => auditedNotification(notification),
    compared: ({ notification, key }) => ({
      ...auditedNotification(notification),
      url: notification.url,
      has_signing_key: key,
    }),
  })
}
