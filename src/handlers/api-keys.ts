import type { ApiKey } from '../access/api-key.ts'
import type { ApiKeyManager, IssuedApiKey } from '../access/manage.ts'
import type { HandlerMap, Schemas } from '../contract/operations.ts'
import { omitUndefined } from '../lib/omit-undefined.ts'
import { toPage } from './present/page.ts'

/** The default overlap of two secrets, in seconds: a day. */
const DEFAULT_OVERLAP_SECONDS = 86_400

/** The parts of the service that these operations call. */
export interface ApiKeyHandlerDeps {
  readonly apiKeys: ApiKeyManager
}

type Operations =
  | 'listApiKeys'
  | 'createApiKey'
  | 'getApiKey'
  | 'updateApiKey'
  | 'deleteApiKey'
  | 'rotateApiKey'

/** The operations of the tag API keys. */
export function apiKeyHandlers({ apiKeys }: ApiKeyHandlerDeps): Pick<HandlerMap, Operations> {
  return {
    listApiKeys: async ({ query }) => {
      const page = toPage(query)
      const { items, total } = await apiKeys.list(page)
      return { data: items.map(presentApiKey), pagination: page.describe(total) }
    },
    createApiKey: async ({ body }, { principal }) => {
      const { id, name, relayers, networks } = body
      const scopes = [...new Set(body.scopes)]
      const visibility = omitUndefined({ relayers, networks })
      const expiresAt = body.expires_at === undefined ? undefined : new Date(body.expires_at)
      return {
        data: presentIssued(await apiKeys.create(principal, { id, name, scopes, visibility, expiresAt })),
      }
    },
    getApiKey: async ({ path }) => ({ data: presentApiKey(await apiKeys.get(path.api_key_id)) }),
    updateApiKey: async ({ path, body }, { principal }) => {
      const { expires_at: end, scopes: wanted, ...patch } = body
      const scopes = wanted && [...new Set(wanted)]
      const expiresAt = end === undefined || end === null ? end : new Date(end)
      return {
        data: presentApiKey(
          await apiKeys.change(principal, path.api_key_id, { ...patch, scopes, expiresAt }),
        ),
      }
    },
    deleteApiKey: async ({ path }, { principal }) => {
      await apiKeys.delete(principal, path.api_key_id)
      return { data: 'API key deleted successfully' }
    },
    rotateApiKey: async ({ path, body }, { principal }) => {
      const overlapMs = (body.overlap_seconds ?? DEFAULT_OVERLAP_SECONDS) * 1000
      return { data: presentIssued(await apiKeys.rotate(principal, path.api_key_id, overlapMs)) }
    },
  }
}

/** Converts a key to the form of the contract. */
function presentApiKey({ id, name, scopes, visibility, ...key }: ApiKey): Schemas['ApiKey'] {
  return omitUndefined({
    id,
    name,
    scopes,
    relayers: visibility.relayers,
    networks: visibility.networks,
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

function presentIssued({ key, secret }: IssuedApiKey): Schemas['IssuedApiKey'] {
  return { ...presentApiKey(key), secret }
}
