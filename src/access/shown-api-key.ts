import type { Schemas } from '../contract/operations.ts'
import { omitUndefined } from '../lib/omit-undefined.ts'
import type { ApiKey } from './api-key.ts'

/** Gives the form of an API key that answers and the audit log may show. */
export function shownApiKey({ id, name, scopes, visibility, ...key }: ApiKey): Schemas['ApiKey'] {
  return omitUndefined({
    id,
    name,
    scopes,
    relayers: visibility.relayers,
    networks: visibility.networks,
    rules: key.rules,
    disabled: key.disabled,
    expires_at: key.expiresAt?.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString(),
    created_at: key.createdAt.toISOString(),
    created_by: key.createdBy,
    secrets: key.secrets.map(({ prefix, createdAt, expiresAt }) =>
      omitUndefined({ prefix, created_at: createdAt.toISOString(), expires_at: expiresAt?.toISOString() }),
    ),
  })
}
