import { getAddress } from 'viem/utils'
import { hasWrongChecksum, RIGHT_CHECKSUM } from '../../lib/evm-address.ts'
import type { EvmNetwork, RpcUrl } from '../../networks/network.ts'
import { assetNamesOf } from '../../networks/tokens.ts'
import type { Answer } from '../answer.ts'
import type { Funding } from '../capabilities.ts'
import type { SigningContext } from '../chain.ts'
import { createBalanceReader } from '../rpc/balance-reader.ts'
import { type ChainOptions, connect, reportEndpoints } from '../rpc/connect.ts'
import {
  createGenesisReader,
  type GenesisQuestion,
  type VerifyOptions,
  verifyNetwork,
} from '../rpc/identity.ts'
import { createUnknownTexts } from '../rpc/refusals.ts'
import type { PooledClient, RpcCall, RpcReply } from '../rpc/rpc.ts'
import { createSimulationRefusals } from '../simulations.ts'
import { checkAuthorities, createInFlightLimits } from './authorization.ts'
import { broadcastAll } from './broadcast/broadcast.ts'
import { createPoolQueueWatch } from './broadcast/pool-queue.ts'
import { createPrivateBroadcast } from './broadcast/private-broadcast.ts'
import { createRefusalMemory, FINAL_AFTER_BLOCKS_IF_OTHERS_SILENT } from './broadcast/second-opinion.ts'
import { readAbi } from './call/abi.ts'
import { callKey, decodeCall } from './call/decode-call.ts'
import { decodeEvent } from './call/decode-event.ts'
import { encodeCall } from './call/encode-call.ts'
import type { EvmDraft, EvmPolicies, EvmRequest } from './content.ts'
import { EVM_CONTENT, READ_METHODS } from './family.ts'
import { readInclusionDetails } from './inclusion/details.ts'
import { proveInclusion } from './inclusion/prove-inclusion.ts'
import { checkRequest } from './prepare/check.ts'
import { comparePrice, prepareComparedNoop } from './prepare/compare.ts'
import { ceilingOf, SPEEDS } from './prepare/fees.ts'
import { createMarketWatch } from './prepare/market.ts'
import { createGasLimits, createPriceBounds } from './prepare/node-limits.ts'
import { type PrepareContext, prepareDraft, prepareReplacement, prepareSpeedUp } from './prepare/prepare.ts'
import { createLineaQuote, readRollupFee } from './prepare/rollups.ts'
import { type AccountReader, createAccountReader, readTokenDecimals } from './read/accounts.ts'
import { createHeadFeed } from './read/heads.ts'
import { NODE_DIALECT } from './read/node-dialect.ts'
import { readQuantity } from './read/quantity.ts'
import {
  createHeaderReader,
  readLogs,
  readManyReceipts,
  readPendingNonce,
  readReceiptsEverywhere,
  readRevertReason,
} from './read/reads.ts'
import { reviewUnsigned } from './review.ts'
import { signDraft, signPersonalMessage } from './sign.ts'
import { chainIdOf, signTypedData } from './typed-data.ts'
import type { EvmChain, EvmPrepared } from './types.ts'

/** Creates the chain of one EVM network. */
export function createEvmChain(options: ChainOptions<EvmNetwork>): EvmChain {
  const { network, clock, log } = options
  const { http, webSocket } = byProtocol(network.rpcUrls)
  const { client, probeHeights } = connect(options, NODE_DIALECT, http)
  const unknownTexts = createUnknownTexts({ ...options, network: network.name })
  const privateBroadcast = createPrivateBroadcast(options, unknownTexts)
  const headers = createHeaderReader(client)
  const accounts = createAccountReader(client, network.averageBlocktimeMs, clock)
  const eip1559 = network.features.includes('eip1559')
  const [bounds, refusals] = [createPriceBounds(clock), createRefusalMemory()]
  const gasLimits = createGasLimits(clock)
  const queuedInPool = network.mempool ? createPoolQueueWatch(client) : undefined
  const freshForMs = Math.min(network.averageBlocktimeMs, 3_000)
  const market = createMarketWatch({
    client,
    clock,
    blocktimeMs: network.averageBlocktimeMs,
    freshForMs,
    bounds: bounds.current,
    leastTip: network.minPriorityFee,
  })
  const context: PrepareContext = {
    client,
    now: clock.now,
    blocktimeMs: network.averageBlocktimeMs,
    simulations: createSimulationRefusals(FINAL_AFTER_BLOCKS_IF_OTHERS_SILENT, clock),
    market,
    eip1559,
    maxGas: network.maxGasPerTransaction,
    ...(network.opStack && {
      rollupFee: (draft: EvmDraft) =>
        readRollupFee(client, { draft, chainId: network.chainId, blocktimeMs: network.averageBlocktimeMs }),
    }),
    quote: createLineaQuote(client, network),
    gasLimits,
    unknownTexts,
    txFeeCap: network.txFeeCap,
  }

  /** Authorizations that cannot apply are refused whatever else the nodes say. */
  async function ifApplicable(
    { authorizationList }: EvmRequest,
    prepared: Promise<Answer<EvmPrepared>>,
  ): Promise<Answer<EvmPrepared>> {
    const [problem, answer] = await Promise.all([
      checkAuthorities({ client, accounts }, authorizationList),
      prepared,
    ])
    return problem ?? answer
  }

  return {
    unit: 'wei',
    assetNames: assetNamesOf(network),
    readTokenDecimals: (token) => readTokenDecimals(client, token),
    readMethods: READ_METHODS,
    verify: (options) => verifyChainId(client, network, options),
    genesis: createGenesisReader(client, GENESIS),
    canonicalAddress: (text) => getAddress(text),
    addressProblem: (text) =>
      hasWrongChecksum(text, [network.chainId])
        ? `${RIGHT_CHECKSUM}; ${text} has letters of both cases that do not fit it, as after a typing error`
        : undefined,
    contractCalls: {
      encode: (call, registered) => encodeCall(call, registered, [network.chainId]),
      readAbi,
      keyOf: callKey,
      decode: decodeCall,
      decodeEvent,
    },
    check: (request, account) => checkRequest(request, account, { chainId: network.chainId, eip1559 }),
    prepare: (request, account, knownGas) =>
      ifApplicable(request, prepareDraft(context, { request, account, knownGas })),
    replace: (request, attempts, account) =>
      ifApplicable(request, prepareReplacement(context, { request, attempts, account })),
    feeBump: {
      speedUp: (attempts, raise) => prepareSpeedUp(context, { attempts, ...raise }),
    },
    comparison: {
      prepareNoop: (refused, account) => prepareComparedNoop(context, { refused, account }),
    },
    endsAt: ({ validUntil }) => validUntil,
    noop: ({ address }) => ({ type: 'evm', to: address, value: 0n, data: '0x', speed: 'fast', isNoop: true }),
    sequencing: {
      nonces: (addresses, { asOf } = {}) => accounts.nonces(addresses, asOf),
      inFlightLimit: createInFlightLimits(client, clock),
      ...(network.mempool && { pendingNonce: (address) => readPendingNonce(client, address) }),
    },
    sign: (draft, signingContext) =>
      signDraft(
        { draft, nonce: requireNonce(signingContext), chainId: network.chainId },
        signingContext.account.signer,
      ),
    review: async (unsigned, account) =>
      reviewUnsigned(unsigned, account, { chainId: network.chainId, eip1559 }),
    signMessage: signPersonalMessage,
    typedData: { chainIdOf, sign: (data, signer) => signTypedData(data, signer, network.chainId) },
    broadcast: (raws) =>
      broadcastAll({ client, clock, bounds, gasLimits, refusals, unknownTexts, queuedInPool }, raws),
    ...(privateBroadcast && { privateBroadcast }),
    head: () => {
      probeHeights()
      return headers.head(network.finality)
    },
    seenHead: () => client.seenHead(),
    headSubscription: {
      subscribe: (listener) =>
        createHeadFeed({ urls: webSocket, blocktimeMs: network.averageBlocktimeMs, clock, log, listener }),
    },
    receipts: (hashes, { asOf } = {}) => readManyReceipts(client, hashes, asOf),
    emitted: (hash) => readLogs(client, hash),
    receiptsEverywhere: (hashes, { asOf } = {}) => readReceiptsEverywhere(client, hashes, asOf),
    proveInclusion: (attempts, freshness) =>
      proveInclusion({ client, confirmations: network.requiredConfirmations }, attempts, freshness),
    forward: (calls) => client.forward(calls),
    endpoints: () => reportEndpoints(client, { clock }),
    blockFinality: { blockHash: (number, { asOf } = {}) => headers.blockHash(number, asOf) },
    blockTimes: headers.blockTimes,
    inclusionDetails: (draft, receipt) => readInclusionDetails(client, draft, receipt),
    revertReasons: { read: (draft, from, block) => readRevertReason(client, { draft, from, block }) },
    funding: createFunding(accounts),
    ...createBalanceReader({ ...accounts, clock, freshForMs }),
    comparePrice: async (draft, level, { policies }) => {
      const answer = await market()
      if (answer.kind !== 'ok') return answer
      const { feeLimitMultiplier, txFeeCap = network.txFeeCap } = policies
      const compared = { level, market: answer.value, feeLimitMultiplier, txFeeCap }
      return { kind: 'ok', value: comparePrice(draft, compared) }
    },
    cost: costOf,
    ...EVM_CONTENT,
    amountOut: ({ value }: EvmRequest) => value,
    speed: (level) => SPEEDS[level],
  }
}

function costOf(draft: EvmDraft): bigint {
  return draft.value + draft.gasLimit * ceilingOf(draft.fees) + (draft.rollupFee ?? 0n)
}

/** Every EVM draft receives a nonce before it is signed. */
function requireNonce({ nonce }: SigningContext): bigint {
  if (nonce === undefined) throw new Error('an EVM transaction cannot be signed without a nonce')
  return nonce
}

/** WebSocket urls announce new blocks; HTTP urls answer everything else. */
function byProtocol(urls: readonly RpcUrl[]): { http: RpcUrl[]; webSocket: RpcUrl[] } {
  const isWebSocket = ({ url }: RpcUrl) => /^wss?:/i.test(url)
  return { http: urls.filter((url) => !isWebSocket(url)), webSocket: urls.filter(isWebSocket) }
}

/** Creates the payments of an EVM network. Every address exists there, and nothing is held back. */
function createFunding(accounts: AccountReader): Funding<EvmRequest, EvmPolicies> {
  return {
    read: async (address, { asOf } = {}) => {
      const balance = await accounts.balance(address, asOf)
      if (balance.kind !== 'ok') return balance
      return { kind: 'ok', value: { spendable: balance.value, missingReserve: 0n, exists: true } }
    },
    pay: ({ to, amount }) => ({ type: 'evm', to, value: amount, speed: 'average' }),
  }
}

/** The question for block 0. Most nodes keep it even when they prune later blocks. */
const GENESIS: GenesisQuestion = {
  call: { method: 'eth_getBlockByNumber', params: ['0x0', false] },
  read: (block) => (block as { readonly hash?: unknown } | null)?.hash,
}

const CHAIN_ID: RpcCall = { method: 'eth_chainId', params: [] }

/**
 * Refuses endpoints of another chain than the configured one. A signature for another chain would be valid
 * there (EIP-155), and their nonces would be wrong.
 */
function verifyChainId(
  client: PooledClient,
  network: EvmNetwork,
  options?: VerifyOptions,
): Promise<Answer<void>> {
  return verifyNetwork(client, { call: CHAIN_ID, compare: (reply) => compare(reply, network), ...options })
}

function compare(reply: RpcReply, { name, chainId }: EvmNetwork): Answer<void> {
  if (reply.kind !== 'result') {
    return { kind: 'unknown', detail: reply.kind === 'error' ? reply.message : reply.detail }
  }
  const served = readQuantity(reply.result)
  if (served === undefined) return { kind: 'unknown', detail: 'the endpoint did not answer with a chain id' }
  if (served === BigInt(chainId)) return { kind: 'ok', value: undefined }
  const detail = `network ${name}: chain_id ${chainId} is configured, but its endpoint serves chain ${served}.`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}
