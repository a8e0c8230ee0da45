import type { Kysely } from 'kysely'
import type { HandlerMap, Schemas } from '../contract/operations.ts'
import type { Schema } from '../database/schema.ts'
import { maskUrl } from '../networks/mask-url.ts'
import { inactive } from '../relayers/policy.ts'
import { createRelayerReader } from '../relayers/read.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { listRelayers } from '../relayers/store.ts'
import type { Operator } from '../transactions/context.ts'
import { defined } from './defined.ts'
import { toPage } from './page.ts'
import { requireRelayer } from './transactions.ts'

interface RelayerHandlerDeps {
  readonly db: Kysely<Schema>
  readonly operatorOf: (relayer: Relayer) => Operator
}

/** The tag Relayers. */
export function relayerHandlers({
  db,
  operatorOf,
}: RelayerHandlerDeps): Pick<HandlerMap, 'listRelayers' | 'sign'> {
  const relayerOf = createRelayerReader(db)
  return {
    listRelayers: async ({ query }) => {
      const page = toPage(query)
      const { items, total } = await listRelayers(db, page)
      return { data: items.map(presentRelayer), pagination: page.describe(total) }
    },
    sign: async ({ path, body }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const refusal = inactive(relayer)
      if (refusal) throw refusal
      const { chain, signer } = operatorOf(relayer)
      return { data: await chain.signMessage(body.message, signer) }
    },
  }
}

function presentRelayer(relayer: Relayer): Schemas['Relayer'] {
  const { policies } = relayer
  return defined({
    id: relayer.id,
    name: relayer.name,
    network: relayer.network,
    network_type: relayer.networkType,
    address: relayer.address,
    signer_id: relayer.signerId,
    notification_id: relayer.notificationId,
    paused: relayer.paused,
    system_disabled: relayer.systemDisabled,
    disabled_reason: relayer.disabledReason,
    custom_rpc_urls: relayer.customRpcUrls?.map(({ url, weight }) => ({ url: maskUrl(url), weight })),
    policies: defined({
      eip1559_pricing: policies.eip1559Pricing,
      gas_limit_estimation: policies.gasLimitEstimation,
      gas_price_cap: policies.gasPriceCap,
      min_balance: policies.minBalance,
      private_transactions: policies.privateTransactions,
      whitelist_receivers: policies.whitelistReceivers,
    }),
  })
}
