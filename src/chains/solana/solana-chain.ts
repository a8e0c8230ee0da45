import type { SolanaNetwork } from '../../networks/network.ts'
import { assetNamesOf } from '../../networks/tokens.ts'
import type { Answer } from '../answer.ts'
import type { Funding } from '../capabilities.ts'
import type { Reviewed } from '../chain.ts'
import type { UnsignedSolana } from '../request.ts'
import { createBalanceReader } from '../rpc/balance-reader.ts'
import { type ChainOptions, connect, reportEndpoints } from '../rpc/connect.ts'
import { createGenesisReader, type VerifyOptions, verifyNetwork } from '../rpc/identity.ts'
import { createUnknownTexts } from '../rpc/refusals.ts'
import type { PooledClient, RpcCall, RpcReply } from '../rpc/rpc.ts'
import { createSimulationRefusals } from '../simulations.ts'
import { broadcastAll, NODE_DIALECT } from './broadcast.ts'
import { encodeInstruction } from './call/encode-instruction.ts'
import { checkRequest, checkUnsigned } from './check.ts'
import type { SolanaPolicies, SolanaRequest } from './content.ts'
import { solanaEffects } from './effects/effects.ts'
import { READ_METHODS, SOLANA_CONTENT } from './family.ts'
import { createAccountHistory } from './inclusion/account-history.ts'
import { createInclusionProver } from './inclusion/inclusion.ts'
import { hasExpired, mayStillExecute } from './inclusion/inclusion-window.ts'
import { askEverywhere, createHistoryRecord, HISTORY_CALLS, type HistoryRecord } from './inclusion/ledger.ts'
import { readReceived } from './inclusion/received.ts'
import { createBlockhashWatch } from './prepare/blockhash.ts'
import { createLoadedBytes, type PrepareContext } from './prepare/context.ts'
import { askPrice, priceCap, SPEEDS } from './prepare/fees.ts'
import { FINAL_AFTER_SLOTS } from './prepare/guarded-simulation.ts'
import { prepareAsItIs, prepareDraft } from './prepare/prepare.ts'
import { prepareReplacement } from './prepare/replace.ts'
import { createSponsoring } from './prepare/sponsored.ts'
import { createFundsReader, type FundsReader, MAX_ACCOUNTS_ASKED } from './read/accounts.ts'
import { readHead } from './read/head.ts'
import { createReceiptReader, readEmitted } from './read/receipts.ts'
import { createTimeouts, resultOf } from './read/replies.ts'
import { amountOutOf, isReSignable, noop } from './request-content.ts'
import { signDraft, signMessage } from './sign.ts'
import type { SolanaAccount, SolanaChain } from './types.ts'
import { SYSTEM_PROGRAM } from './wire/addresses.ts'
import { openTransaction } from './wire/message.ts'
import { transferData } from './wire/system-instruction.ts'

/**
 * Leaders accept a transaction only while they lead, four slots each, so the service broadcasts it again to
 * the next leaders; in ms.
 */
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
  const sponsoring = createSponsoring(context)

  return {
    unit: 'lamports',
    assetNames: assetNamesOf(network),
    readTokenDecimals: sponsoring.tokenDecimals,
    readMethods: READ_METHODS,
    rebroadcastAfterMs: REBROADCAST_MS,
    expiry: {
      hasExpired: (draft, head) => hasExpired(client, draft, head),
      mayStillExecute,
      reSignable: isReSignable,
    },
    history: createAccountHistory(client),
    verify: (options) => verifyEndpoints({ client, network, history }, options),
    genesis: createGenesisReader(client, { call: GENESIS, read: (hash) => hash }),
    canonicalAddress: (text) => text,
    encodeInstruction,
    sponsoring,
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
    emitted: (hash) => readEmitted(client, hash),
    inclusionDetails: (draft, receipt, payment) => readReceived(client, { draft, receipt, payment }),
    receiptsEverywhere: (hashes, freshness) => receipts.readEverywhere(hashes, freshness),
    proveInclusion: createInclusionProver({ client, receipts, clock }),
    forward: (calls) => client.forward(calls),
    endpoints: () => reportEndpoints(client, { clock, keepsHistory: history.keeps }),
    funding: createFunding(funds),
    ...createBalanceReader({
      balances: funds.readBalances,
      balancesPerCall: () => MAX_ACCOUNTS_ASKED,
      clock,
      freshForMs: slotMs,
    }),
    comparePrice: async ({ transaction, unitPrice }, level, { policies }) => {
      const { message } = openTransaction(transaction)
      const price = await askPrice(client, message, level)
      if (price.kind !== 'ok') return price
      return {
        kind: 'ok',
        value: { bid: unitPrice, market: price.value, feeCap: priceCap(message, policies) },
      }
    },
    cost: ({ fee, spends }) => fee + spends,
    ...SOLANA_CONTENT,
    amountOut: amountOutOf,
    speed: (level) => SPEEDS[level],
  }
}

/**
 * Reviews a transaction by the rules of sending, with a simulation; signatures of others may still be
 * missing.
 */
async function reviewUnsigned(
  context: PrepareContext,
  { transaction, payment }: UnsignedSolana,
  account: SolanaAccount,
): Promise<Answer<Reviewed>> {
  // Nothing is added to the transaction, so the speed sets no price.
  const request: SolanaRequest = {
    type: 'solana',
    transaction,
    speed: 'average',
    ...(payment && { payment }),
  }
  const refusal = checkUnsigned(request, account)
  if (refusal) return { kind: 'refused', refusal }
  const prepared = await prepareAsItIs(context, request, account)
  if (prepared.kind !== 'ok') return prepared
  const { draft } = prepared.value
  return {
    kind: 'ok',
    value: {
      request,
      effects: solanaEffects(request, account.address),
      cost: draft.fee + draft.spends,
      sign: (signer) => {
        const sourceAccount = { address: account.address, signer }
        return signDraft(draft, { sourceAccount, nonce: undefined, account: sourceAccount })
      },
    },
  }
}

/** The question for the hash of the first block. The result is the hash itself. */
const GENESIS: RpcCall = { method: 'getGenesisHash', params: [] }

/**
 * Refuses endpoints of another cluster than the configured one, where that is known. A signed transaction
 * does not name its network, only its blockhash does, so endpoints of another cluster would report other
 * accounts. The call also notes which endpoints keep old transactions.
 */
async function verifyEndpoints(
  { client, network, history }: Verified,
  options?: VerifyOptions,
): Promise<Answer<void>> {
  const endpoints = await askEverywhere(client, [GENESIS, ...HISTORY_CALLS])
  for (const { url, replies: told } of endpoints) history.note(url, told.slice(1))
  const replies = endpoints.flatMap(({ replies: [genesis] }) => genesis?.reply ?? [])
  const question = { call: GENESIS, compare: (reply: RpcReply) => compare(reply, network), ...options }
  return verifyNetwork(client, question, replies)
}

interface Verified {
  readonly client: PooledClient
  readonly network: SolanaNetwork
  readonly history: HistoryRecord
}

function compare(reply: RpcReply, { name, genesisHash }: SolanaNetwork): Answer<void> {
  const result = resultOf(reply)
  if (result.kind !== 'ok') return result
  if (typeof result.value !== 'string')
    return { kind: 'unknown', detail: 'the endpoint did not answer with a genesis hash' }
  if (genesisHash === undefined || result.value === genesisHash) return { kind: 'ok', value: undefined }
  const detail = `network ${name}: the genesis hash ${genesisHash} is expected, but its endpoint serves ${result.value}.`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

/** Creates the payments of a Solana network. A transfer creates the account. */
function createFunding({ readFunds }: FundsReader): Funding<SolanaRequest, SolanaPolicies> {
  return {
    read: (address, { asOf } = {}) => readFunds(address, asOf),
    pay: ({ to, amount }, { address }) => ({
      type: 'solana',
      instructions: [
        {
          programId: SYSTEM_PROGRAM,
          accounts: [
            { pubkey: address, isSigner: true, isWritable: true },
            { pubkey: to, isSigner: false, isWritable: true },
          ],
          data: transferData(amount),
        },
      ],
      speed: 'average',
    }),
  }
}
