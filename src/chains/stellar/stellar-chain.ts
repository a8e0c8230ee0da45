import type { StellarNetwork } from '../../networks/network.ts'
import { assetNamesOf } from '../../networks/tokens.ts'
import type { Answer, Head } from '../answer.ts'
import type { SpeedMeaning } from '../chain.ts'
import { createBalanceReader } from '../rpc/balance-reader.ts'
import { type ChainOptions, connect, reportEndpoints } from '../rpc/connect.ts'
import { type VerifyOptions, verifyNetwork } from '../rpc/identity.ts'
import { createUnknownTexts } from '../rpc/refusals.ts'
import type { PooledClient, RpcCall, RpcReply } from '../rpc/rpc.ts'
import { createSimulationRefusals } from '../simulations.ts'
import type { Speed } from '../speed.ts'
import { broadcastAll, NODE_DIALECT } from './broadcast.ts'
import { checkRequest } from './check/request.ts'
import type { StellarDraft, UnixSeconds } from './content.ts'
import { encodeNamedArgs } from './contract-spec/named-args.ts'
import { createSpecReader } from './contract-spec/read-contract-spec.ts'
import { nextSequence } from './effects/effects.ts'
import { READ_METHODS, STELLAR_CONTENT } from './family.ts'
import { readInclusionDetails } from './inclusion/details.ts'
import { proveInclusion } from './inclusion/prove-inclusion.ts'
import {
  hashesOf,
  readEmitted,
  readReceipts,
  readReceiptsEverywhere,
  readReceived,
} from './inclusion/receipts.ts'
import { affordablePrice, costOf, createMarketWatch, type Market } from './prepare/fees.ts'
import { createFunding, noop, openChannels } from './prepare/own-requests.ts'
import { amountOutOf, type PrepareContext, prepareDraft } from './prepare/prepare.ts'
import { endsAt, externalNonceOf, prepareReplacement } from './prepare/replace.ts'
import { FINAL_AFTER_LEDGERS } from './prepare/simulate.ts'
import { createSponsoring, refusePayer } from './prepare/sponsored.ts'
import { createBaseReserveReader, createFundsReader, MAX_KEYS, readNonces } from './read/accounts.ts'
import { createMemoRequirements } from './read/memo-required.ts'
import { fieldsOf, readAgreedHead, readHead } from './read/replies.ts'
import { reviewAuthorization, reviewUnsigned } from './review.ts'
import { signDraft, signMessage } from './sign.ts'
import type { StellarChain } from './types.ts'

/**
 * The age in ms up to which a base reserve counts for new channel accounts. It is shorter than the pause
 * after one that could not be opened, so that the next attempt has the current one.
 */
const OPENING_RESERVE_MS = 30_000

/**
 * A node refuses what would be too late for a ledger that closes after twice the expected time (stellar-core
 * `HerderUtils` `getUpperBoundCloseTimeOffset`). Time bounds are whole seconds, rounded down.
 */
const LEDGERS_AHEAD = 2
const SECOND_MS = 1_000

/**
 * A Stellar request names no speed: the bid follows the network's fees, and expired content is signed again
 * after two minutes.
 */
const MEANING: SpeedMeaning = { priceMultiplier: 1, raiseAfterSeconds: 120 }

const SPEEDS: Readonly<Record<Speed, SpeedMeaning>> = {
  safeLow: MEANING,
  average: MEANING,
  fast: MEANING,
  fastest: MEANING,
}

/** Creates the chain of one Stellar network over the JSON-RPC of the Stellar RPC. */
export function createStellarChain(options: ChainOptions<StellarNetwork>): StellarChain {
  const { network, clock } = options
  const { client, probeHeights } = connect(options, NODE_DIALECT)
  const freshForMs = Math.min(network.averageBlocktimeMs, 3_000)
  const { market, sawLedger, sawMinimum } = createMarketWatch({ client, clock, freshForMs })
  const unknownTexts = createUnknownTexts({ ...options, network: network.name })
  const { passphrase } = network
  const readSpec = createSpecReader(client)
  const baseReserve = createBaseReserveReader(client, clock)
  const funds = createFundsReader(client, baseReserve)
  const context: PrepareContext = {
    client,
    market,
    passphrase,
    memos: createMemoRequirements(client, clock),
    refusePayer: (payment) => refusePayer({ client, funds }, payment),
    simulations: createSimulationRefusals(FINAL_AFTER_LEDGERS, clock),
  }
  const receipts: StellarChain['receipts'] = (hashes, freshness = {}) =>
    readReceipts(client, { hashes, passphrase, ...freshness })
  const sponsoring = createSponsoring({ ...context, funds, ledgerMs: network.averageBlocktimeMs })

  return {
    unit: 'stroops',
    assetNames: assetNamesOf(network),
    readTokenDecimals: sponsoring.tokenDecimals,
    readMethods: READ_METHODS,
    sequencing: {
      // The queue holds one transaction of a source account: stellar-core `TransactionQueue::canAdd`.
      maxInFlight: 1,
      nonces: (addresses, { asOf } = {}) => readNonces(client, addresses, asOf),
      nextNonce: nextSequence,
    },
    expiry: {
      minLifetimeMs: LEDGERS_AHEAD * network.averageBlocktimeMs + SECOND_MS,
      hasExpired: (draft, head) => hasExpired(client, draft, head),
      preparedAt: ({ preparedAt }) => new Date(Number(preparedAt) * 1_000),
      reSignable: (request) => externalNonceOf(request) === undefined,
    },
    channels: {
      open: async (addresses, account) => {
        const newChannels = { addresses, baseReserve: await baseReserve.read(OPENING_RESERVE_MS) }
        return openChannels(network.name, newChannels, account)
      },
    },
    sponsoring,
    externalSigning: { nonceOf: externalNonceOf },
    authorizationEntries: {
      review: (preimage, address) => reviewAuthorization({ client, passphrase }, preimage, address),
    },
    inclusionHashes: { of: hashesOf },
    verify: (options) => verifyPassphrase(client, network, options),
    canonicalAddress: (text) => text,
    encodeNamedArgs: (request) => encodeNamedArgs(readSpec, request),
    check: (request, account) => checkRequest(request, account, network),
    endsAt,
    prepare: (request, account) => prepareDraft(context, request, account),
    replace: (request, attempts, account) => prepareReplacement(context, { request, attempts, account }),
    noop: (account) => noop(network.name, account),
    review: async (unsigned, account) => reviewUnsigned(unsigned, account, passphrase),
    sign: (draft, signingContext) => signDraft(draft, signingContext, passphrase),
    signMessage,
    broadcast: (raws, mayBeInPool) => broadcastAll(client, raws, { mayBeInPool, sawMinimum, unknownTexts }),
    head: async () => {
      probeHeights()
      const head = await readHead(client)
      if (head.kind === 'ok') sawLedger((head.value.expiredUpTo ?? 0n) as UnixSeconds)
      return head
    },
    seenHead: () => client.seenHead(),
    receipts,
    receiptsEverywhere: (hashes, freshness = {}) =>
      readReceiptsEverywhere(client, { hashes, passphrase, ...freshness }),
    emitted: (hash) => readEmitted(client, hash),
    inclusionDetails: async (draft, receipt, payment) => {
      const [silent, received] = await Promise.all([
        readInclusionDetails(client, draft, receipt),
        readReceived(client, receipt, payment),
      ])
      return { ...silent, ...received }
    },
    proveInclusion: (attempts, freshness) => proveInclusion({ client, passphrase }, attempts, freshness),
    forward: (calls) => client.forward(calls),
    endpoints: () => reportEndpoints(client, { clock }),
    funding: createFunding(funds, network.name),
    ...createBalanceReader({
      balances: funds.readBalances,
      balancesPerCall: () => MAX_KEYS,
      clock,
      freshForMs,
    }),
    comparePrice: async (draft) => {
      const answer = await market()
      return answer.kind === 'ok' ? { kind: 'ok', value: comparePrice(draft, answer.value) } : answer
    },
    cost: costOf,
    ...STELLAR_CONTENT,
    amountOut: amountOutOf,
    speed: (level) => SPEEDS[level],
  }
}

/**
 * A draft expires by the close time of the newest ledger, or by its number: the first ledger that is too late
 * by its number does not have to exist yet. A ledger that closes in the last second of a draft proves
 * nothing, because the next one may close in the same second (CAP-88).
 */
async function hasExpired(client: PooledClient, draft: StellarDraft, head: Head): Promise<boolean> {
  if (!isOver(draft, head)) return false
  if (client.states().length < 2) return true
  // The head is the word of one endpoint, and what has expired is signed again.
  const agreed = await readAgreedHead(client)
  return agreed.kind === 'ok' && isOver(draft, agreed.value)
}

function isOver({ expiresAt, maxLedger }: StellarDraft, { expiredUpTo, number }: Head): boolean {
  const byTime = expiresAt !== undefined && expiredUpTo !== undefined && expiresAt < expiredUpTo
  return byTime || (maxLedger !== undefined && number + 1n >= maxLedger)
}

function comparePrice(draft: StellarDraft, market: Market) {
  const { feePerOperation, resourceFee } = draft
  return {
    bid: feePerOperation,
    market: resourceFee > 0n ? market.soroban : market.classic,
    feeCap: affordablePrice(draft),
  }
}

const NETWORK: RpcCall = { method: 'getNetwork', params: {} }

/**
 * Refuses endpoints of another network than the configured one. Every signature is for one network's
 * passphrase, so another network would refuse the bytes, and its sequence numbers would be wrong.
 */
function verifyPassphrase(
  client: PooledClient,
  network: StellarNetwork,
  options?: VerifyOptions,
): Promise<Answer<void>> {
  return verifyNetwork(client, { call: NETWORK, compare: (reply) => compare(reply, network), ...options })
}

function compare(reply: RpcReply, { name, passphrase }: StellarNetwork): Answer<void> {
  const fields = fieldsOf(reply)
  if (fields.kind !== 'ok') return fields
  const { passphrase: served } = fields.value
  if (typeof served !== 'string') {
    return { kind: 'unknown', detail: 'the endpoint did not answer with a passphrase' }
  }
  if (served === passphrase) return { kind: 'ok', value: undefined }
  const detail = `network ${name}: the passphrase "${passphrase}" is configured, but its endpoint serves "${served}".`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}
