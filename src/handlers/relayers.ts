import { createHash } from 'node:crypto'
import type { SignatureRecorder } from '../audit/signatures.ts'
import type { HandlerMap } from '../contract/operations.ts'
import type { Db } from '../database/schema.ts'
import { inactive } from '../relayers/policy.ts'
import type { RelayerReader } from '../relayers/read.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { listRelayers } from '../relayers/store.ts'
import { refuseOpaque } from '../transactions/budgets/evaluate-request.ts'
import type { RelayerRuntime } from '../transactions/model/runtime.ts'
import { presentMessageSignature } from './present/message-signature.ts'
import { toPage } from './present/page.ts'
import { presentRelayer } from './present/relayer.ts'
import { requireRelayer } from './transactions.ts'

/** The parts of the service that these operations call. */
export interface RelayerHandlerDeps {
  readonly db: Db
  readonly relayerOf: RelayerReader
  readonly runtimeOf: (relayer: Relayer) => RelayerRuntime
  readonly prepare: (relayer: Relayer) => Promise<RelayerRuntime>
  readonly recordSignature: SignatureRecorder
}

/** The operations that list relayers and sign messages. */
export function relayerHandlers({
  db,
  relayerOf,
  runtimeOf,
  prepare,
  recordSignature,
}: RelayerHandlerDeps): Pick<HandlerMap, 'listRelayers' | 'signMessage'> {
  return {
    listRelayers: async ({ query }, { principal }) => {
      const page = toPage(query)
      const { items, total } = await listRelayers(db, page, principal.visibility)
      return {
        data: await Promise.all(
          items.map(async (relayer) => presentRelayer(relayer, await prepare(relayer))),
        ),
        pagination: page.describe(total),
      }
    },
    signMessage: async ({ path, body }, { actor }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const refusal = inactive(relayer)
      if (refusal) throw refusal
      refuseOpaque(relayer, actor)
      const { chain, account } = runtimeOf(relayer)
      const signature = await chain.signMessage(body.message, account.signer)
      const sha256 = createHash('sha256').update(body.message).digest('hex')
      await recordSignature({ relayerId: relayer.id, action: 'signMessage', actor, sha256 })
      return { data: presentMessageSignature(signature) }
    },
  }
}
