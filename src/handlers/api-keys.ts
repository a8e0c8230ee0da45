import { type IssuedApiKey, shownApiKey } from '../access/manage.ts'
import { type Principal, personId } from '../access/principal.ts'
import { ROLE_NAMES, ROLES } from '../access/role.ts'
import { SCOPES } from '../access/scope.ts'
import type { Schemas } from '../contract/operations.ts'
import { AppError } from '../errors.ts'
import type { HandlerMap } from '../http/handler.ts'
import { openReader } from '../lib/fields.ts'
import { omitUndefined } from '../lib/object.ts'
import { type NetworkDirectory, unknownNetworks } from '../networks/directory.ts'
import { networkOf } from '../relayers/relayer.ts'
import { absentSession, noSession } from '../sign-in/sessions.ts'
import type { Session } from '../sign-in/sessions-store.ts'
import type { Spent } from '../spending/budget.ts'
import { readRules } from '../spending/rule-table.ts'
import {
  networksIn,
  type SpendingRules,
  subjectOfKey,
  subjectOfRelayer,
  userSpender,
} from '../spending/rules.ts'
import { type AssetUsage, type LimitUsage, readUsage, type Usage } from '../spending/usage.ts'
import { toPage } from './present/shared.ts'
import type { AccessParts, CoreParts, RelayerParts } from './service.ts'
import { requireRelayer } from './transactions/transactions.ts'

/** The default overlap of two secrets, in seconds: a day. */
const DEFAULT_OVERLAP_SECONDS = 86_400

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
}: RelayerParts & AccessParts): Pick<HandlerMap, Operations> {
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

/**
 * @throws AppError 400 `unknown_network` if the key would be limited to, or limited on, a network that does
 * not exist
 */
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

/**
 * The operation that shows callers their own rights. It reads nothing: the request was admitted with them.
 */
export function currentApiKeyHandlers(): Pick<HandlerMap, 'getCurrentApiKey' | 'listRoles'> {
  return {
    getCurrentApiKey: async (_input, { principal }) => ({ data: present(principal) }),
    listRoles: async () => ({
      data: ROLE_NAMES.map((name) => ({ name, ...ROLES[name], scopes: [...ROLES[name].scopes] })),
    }),
  }
}

function present(principal: Principal): Schemas['CurrentApiKey'] {
  const { id, person, session, visibility, rules, expiresAt, may } = principal
  return omitUndefined({
    id,
    person: person && omitUndefined(person),
    session: session && {
      id: session.id,
      roles: [...session.roles],
      expires_at: session.expiresAt.toISOString(),
    },
    scopes: SCOPES.filter((scope) => may(scope)),
    relayers: visibility.relayers,
    networks: visibility.networks,
    rules,
    expires_at: expiresAt?.toISOString(),
  })
}

/** The operations of the tag Sessions. Without a provider there are none. */
export function sessionHandlers({
  sessions,
}: AccessParts): Pick<HandlerMap, 'listSessions' | 'endSession' | 'endCurrentSession'> {
  return {
    listSessions: async ({ query }) => {
      const page = toPage(query)
      const { items, total } = (await sessions?.list(page)) ?? { items: [], total: 0 }
      return { data: items.map(presentSession), pagination: page.describe(total) }
    },
    endSession: async ({ path }, context) => {
      if (sessions === undefined) throw absentSession(path.session_id)
      await sessions.end(context, path.session_id)
      return { data: SESSION_ENDED }
    },
    endCurrentSession: async (_input, context) => {
      if (sessions === undefined) throw noSession()
      await sessions.endOwn(context)
      return { data: SESSION_ENDED }
    },
  }
}

const SESSION_ENDED = 'Session ended successfully'

function presentSession(session: Session): Schemas['Session'] {
  return omitUndefined({
    id: session.id,
    person_id: personId(session.person),
    person: omitUndefined(session.person),
    roles: [...session.roles],
    address: session.address,
    user_agent: session.userAgent,
    created_at: session.createdAt.toISOString(),
    last_used_at: session.lastUsedAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
  })
}

/** The operations that show what was spent. */
export function usageHandlers({
  db,
  clock,
  relayerOf,
  apiKeys,
}: CoreParts & RelayerParts & AccessParts): Pick<HandlerMap, 'getRelayerUsage' | 'getApiKeyUsage'> {
  const now = () => new Date(clock.now())
  return {
    getRelayerUsage: async ({ path }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const spender = { subject: subjectOfRelayer(relayer.id), rules: relayer.policies.rules ?? {} }
      const networks = [networkOf(relayer)]
      return { data: presentUsage(await readUsage(db, { spender, networks }, now())) }
    },
    getApiKeyUsage: async ({ path, query: { user_id: user } }) => {
      const { id, rules = {}, visibility } = await apiKeys.get(path.api_key_id)
      const key = { subject: subjectOfKey(id), rules }
      const ofUser = user === undefined ? key : userSpender(id, user, rules)
      // Nothing is counted for the users of a key without limits for them.
      const spender = ofUser ?? { subject: `${key.subject}/${user}`, rules: {} }
      const networks = visibility.networks ?? []
      return { data: presentUsage(await readUsage(db, { spender, networks }, now())) }
    },
  }
}

/** Shows what was spent. Amounts are decimal digits. */
function presentUsage({ limits, assets }: Usage): Schemas['SpendingUsage'] {
  return { limits: limits.map(presentLimit), spent: assets.map(presentAsset) }
}

function presentLimit({ rule, per, network, asset, limit, spent }: LimitUsage): Schemas['LimitUsage'] {
  return omitUndefined({
    rule,
    per,
    network,
    asset,
    value: limited(limit.value, spent.value),
    fees: limited(limit.fees, spent.fees),
    count: limited(limit.count, spent.count),
  })
}

function limited(limit: bigint | number | undefined, spent: bigint | number) {
  if (limit === undefined) return undefined
  const left = BigInt(limit) - BigInt(spent)
  return { limit: String(limit), spent: String(spent), left: String(left < 0n ? 0n : left) }
}

function presentAsset({ network, asset, spent }: AssetUsage): Schemas['AssetUsage'] {
  return {
    network,
    asset,
    hour: presentSpent(spent.hour),
    day: presentSpent(spent.day),
    month: presentSpent(spent.month),
  }
}

function presentSpent({ value, fees, count }: Spent): Schemas['SpentAmounts'] {
  return { value: String(value), fees: String(fees), count }
}

/**
 * Reads the rules that a caller gives to an API key.
 * @throws AppError 400 with every problem
 */
function readKeyRules(given: Schemas['SpendingRules']): SpendingRules {
  const problems: string[] = []
  const reader = openReader(given, 'body.rules', problems)
  const rules = reader && readRules(reader)
  if (rules === undefined || problems.length > 0)
    throw new AppError('invalid_request', `${problems.join('; ')}.`)
  return rules
}
