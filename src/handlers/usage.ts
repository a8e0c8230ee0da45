import type { ApiKeyManager } from '../access/manage.ts'
import type { HandlerMap } from '../contract/operations.ts'
import type { Db } from '../database/schema.ts'
import type { Clock } from '../lib/time/clock.ts'
import { networkOf } from '../relayers/network-of.ts'
import type { RelayerReader } from '../relayers/read.ts'
import { subjectOfKey, subjectOfRelayer } from '../spending/subject.ts'
import { readUsage } from '../spending/usage.ts'
import { presentUsage } from './present/usage.ts'
import { requireRelayer } from './transactions.ts'

/** The parts of the service that these operations call. */
export interface UsageHandlerDeps {
  readonly db: Db
  readonly clock: Clock
  readonly relayerOf: RelayerReader
  readonly apiKeys: ApiKeyManager
}

/** The operations that show what was spent. */
export function usageHandlers({
  db,
  clock,
  relayerOf,
  apiKeys,
}: UsageHandlerDeps): Pick<HandlerMap, 'getRelayerUsage' | 'getApiKeyUsage'> {
  const now = () => new Date(clock.now())
  return {
    getRelayerUsage: async ({ path }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const spender = { subject: subjectOfRelayer(relayer.id), rules: relayer.policies.rules ?? {} }
      const networks = [networkOf(relayer)]
      return { data: presentUsage(await readUsage(db, spender, { now: now(), networks })) }
    },
    getApiKeyUsage: async ({ path }) => {
      const { id, rules = {}, visibility } = await apiKeys.get(path.api_key_id)
      const spender = { subject: subjectOfKey(id), rules }
      const networks = visibility.networks ?? []
      return { data: presentUsage(await readUsage(db, spender, { now: now(), networks })) }
    },
  }
}
