import { httpUrl, id, oneOf } from '../lib/fields/field-types.ts'
import { openReader, type Reader } from '../lib/fields/reader.ts'
import type { NotificationConfig } from '../notifications/notification.ts'
import { readSecret, type Sources } from './sources.ts'

/** Reads the list `notifications`: `{ id, type, url, signing_key? }`. */
export function readNotifications(file: Reader, sources: Sources, problems: string[]): NotificationConfig[] {
  return file.items('notifications').flatMap(({ value, path }) => {
    const reader = openReader(value, path, problems)
    if (!reader) return []
    const signingKey = readSecret(reader.object('signing_key'), sources)
    const notification: NotificationConfig = {
      id: reader.get('id', id),
      type: reader.get('type', oneOf('webhook')),
      url: reader.get('url', httpUrl),
      ...(signingKey && { signingKey }),
    }
    reader.finish()
    return [notification]
  })
}
