import type { SolanaNetwork } from '../../networks/network.ts'
import { createBalanceReader } from '../balance-reader.ts'
import { type ChainOptions, connect } from '../connect.ts'
import { createGenesisReader } from '../genesis.ts'
import { reportEndpoints } from '../report-endpoints.ts'
import { createSimulationRefusals } from '../simulation-refusals.ts'
import { createUnknownTexts } from '../unknown-texts.ts'
import { broadcastAll } from './broadcast.ts'
import { encodeInstruction } from './call/encode-instruction.ts'
import { checkRequest } from './check/request.ts'
import { createFunding } from './funding.ts'
import { createAccountHistory } from './inclusion/account-history.ts'
import { hasExpired, mayStillExecute } from './inclusion/expiry.ts'
import { createHistoryRecord } from './inclusion/history.ts'
import { createInclusionProver } from './inclusion/inclusion.ts'
import { NODE_DIALECT } from './node-dialect.ts'
import { createBlockhashWatch } from './prepare/blockhash.ts'
import { askPrice } from './prepare/market.ts'
import { prepareDraft } from './prepare/prepare.ts'
import type { PrepareContext } from './prepare/prepare-context.ts'
import { prepareReplacement } from './prepare/replace.ts'
import { createLoadedBytes } from './prepare/unique-bytes.ts'
import { createFundsReader } from './read/balance.ts'
import { readHead } from './read/head.ts'
import { createReceiptReader } from './read/receipts.ts'
import { SOLANA_CONTENT } from './read-content.ts'
import { READ_METHODS } from './read-methods.ts'
import { amountOutOf, isReSignable, noop } from './request-content.ts'
import { reviewUnsigned } from './review.ts'
import { signDraft } from './sign.ts'
import { signMessage } from './sign-message.ts'
import { FINAL_AFTER_SLOTS } from './simulate/guarded-simulation.ts'
import { SPEEDS } from './speed.ts'
import { createTimeouts } from './timeouts.ts'
import type { SolanaChain } from './types.ts'
import { GENESIS, verifyEndpoints } from './verify.ts'
import { openTransaction } from './wire/transaction.ts'

/** Leaders accept a transaction only while they lead, four slots each, so the service broadcasts it again to the next leaders; in ms. */
const REBROADCAST_MS = 2_000

/** Creates the chain of one Solana network over JSON-RPC. */
export function createSolanaChain(options: ChainOptions<SolanaNetwork>): SolanaChain {
  const { network, clock, log } = options
  const { client, probeHeights } = connect(options, NODE_DIALECT)
  const slotMs = network.averageBlocktimeMs
  const receipts = createReceiptReader(client)
  const history = createHistoryRecord(log)
  const funds = createFundsReader(client, clock)
  const unknownTexts = createUnknownTexts({ ...options, network: network.name })
  const context: PrepareContext = {
    client,
    blockhash: createBlockhashWatch({ client, clock, freshForMs: slotMs }),
    timeouts: createTimeouts(client),
    simulations: createSimulationRefusals(FINAL_AFTER_SLOTS, clock),
    loadedBytes: createLoadedBytes(),
  }
  return {
    unit: 'lamports',
    readMethods: READ_METHODS,
    rebroadcastAfterMs: REBROADCAST_MS,
    expiry: {
      hasExpired: (draft, head) => hasExpired(client, draft, head),
      mayStillExecute,
      reSignable: isReSignable,
    },
    history: createAccountHistory(client),
    verify: () => verifyEndpoints(client, network, history),
    genesis: createGenesisReader(client, { call: GENESIS, read: (hash) => hash }),
    canonicalAddress: (text) => text,
    encodeInstruction,
    check: checkRequest,
    endsAt: ({ validUntil }) => validUntil,
    prepare: (request, account) => prepareDraft(context, request, account),
    replace: (request, attempts, account) => prepareReplacement(context, { request, attempts, account }),
    noop,
    review: (unsigned, account) => reviewUnsigned(context, unsigned, account),
    sign: signDraft,
    signMessage,
    broadcast: (raws) => broadcastAll(client, raws, unknownTexts),
    head: () => {
      probeHeights()
      return readHead(client)
    },
    seenHead: () => client.seenHead(),
    receipts: (hashes, freshness) => receipts.read(hashes, freshness),
    receiptsEverywhere: (hashes, freshness) => receipts.readEverywhere(hashes, freshness),
    proveInclusion: createInclusionProver({ client, receipts, clock }),
    forward: (calls) => client.forward(calls),
    endpoints: () => reportEndpoints(client, { clock, keepsHistory: history.keeps }),
    funding: createFunding(funds),
    ...createBalanceReader({
      readBalance: funds.readBalance,
      clock,
      freshForMs: slotMs,
    }),
    comparePrice: async ({ transaction, unitPrice }, level) => {
      const price = await askPrice(client, openTransaction(transaction).message, level)
      return price.kind === 'ok' ? { kind: 'ok', value: { bid: unitPrice, market: price.value } } : price
    },
    cost: ({ fee, spends }) => fee + spends,
    ...SOLANA_CONTENT,
    amountOut: amountOutOf,
    speed: (level) => SPEEDS[level],
  }
}
