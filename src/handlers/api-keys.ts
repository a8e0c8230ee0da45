import type { ApiKeyManager, IssuedApiKey } from '../access/manage.ts'
import { shownApiKey } from '../access/shown-api-key.ts'
import type { HandlerMap, Schemas } from '../contract/operations.ts'
import { AppError } from '../errors.ts'
import { omitUndefined } from '../lib/omit-undefined.ts'
import { type NetworkDirectory, unknownNetworks } from '../networks/directory.ts'
import { networksIn, type SpendingRules } from '../spending/rules.ts'
import { toPage } from './present/page.ts'
import { readKeyRules } from './read/rules.ts'

/** The default overlap of two secrets, in seconds: a day. */
const DEFAULT_OVERLAP_SECONDS = 86_400

/** The parts of the service that these operations call. */
export interface ApiKeyHandlerDeps {
  readonly apiKeys: ApiKeyManager
  readonly networks: Pick<NetworkDirectory, 'list'>
}

type Operations =
  | 'listApiKeys'
  | 'createApiKey'
  | 'getApiKey'
  | 'updateApiKey'
  | 'deleteApiKey'
  | 'rotateApiKey'

/** The operations of the tag API keys. */
export function apiKeyHandlers({
  apiKeys,
  networks: directory,
}: ApiKeyHandlerDeps): Pick<HandlerMap, Operations> {
  return {
    listApiKeys: async ({ query }) => {
      const page = toPage(query)
      const { items, total } = await apiKeys.list(page)
      return { data: items.map(shownApiKey), pagination: page.describe(total) }
    },
    createApiKey: async ({ body }, context) => {
      const { id, name, relayers, networks } = body
      const rules = body.rules && readKeyRules(body.rules)
      requireKnown(directory, { networks, rules })
      const scopes = [...new Set(body.scopes)]
      const visibility = omitUndefined({ relayers, networks })
      const expiresAt = body.expires_at === undefined ? undefined : new Date(body.expires_at)
      return {
        data: presentIssued(
          await apiKeys.create(context, { id, name, scopes, visibility, rules, expiresAt }),
        ),
      }
    },
    getApiKey: async ({ path }) => ({ data: shownApiKey(await apiKeys.get(path.api_key_id)) }),
    updateApiKey: async ({ path, body }, context) => {
      const { expires_at: end, scopes: wanted, rules: given, ...patch } = body
      const rules = given && readKeyRules(given)
      requireKnown(directory, { networks: patch.networks, rules })
      const scopes = wanted && [...new Set(wanted)]
      const expiresAt = end === undefined || end === null ? end : new Date(end)
      return {
        data: shownApiKey(
          await apiKeys.change(context, path.api_key_id, { ...patch, scopes, rules, expiresAt }),
        ),
      }
    },
    deleteApiKey: async ({ path }, context) => {
      await apiKeys.delete(context, path.api_key_id)
      return { data: 'API key deleted successfully' }
    },
    rotateApiKey: async ({ path, body }, context) => {
      const overlapMs = (body.overlap_seconds ?? DEFAULT_OVERLAP_SECONDS) * 1000
      return { data: presentIssued(await apiKeys.rotate(context, path.api_key_id, overlapMs)) }
    },
  }
}

interface Named {
  readonly networks?: readonly string[] | null | undefined
  readonly rules?: SpendingRules | null | undefined
}

/** @throws AppError 400 `unknown_network` when the key would be limited to, or limited on, a network that does not exist */
function requireKnown(directory: Pick<NetworkDirectory, 'list'>, { networks, rules }: Named): void {
  for (const [field, ids] of [
    ['networks', networks ?? []],
    ['rules', rules ? networksIn(rules) : []],
  ] as const) {
    const problem = unknownNetworks(directory, ids)
    if (problem !== undefined) throw new AppError('unknown_network', `body.${field}: ${problem}.`)
  }
}

function presentIssued({ key, secret }: IssuedApiKey): Schemas['IssuedApiKey'] {
  return { ...shownApiKey(key), secret }
}
