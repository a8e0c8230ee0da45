import { getAddress } from 'viem/utils'
import type { EvmNetwork, RpcUrl } from '../../networks/network.ts'
import { createBalanceReader } from '../balance-reader.ts'
import type { SigningContext } from '../chain.ts'
import { type ChainOptions, connect } from '../connect.ts'
import { createGenesisReader } from '../genesis.ts'
import { reportEndpoints } from '../report-endpoints.ts'
import { createSimulationRefusals } from '../simulation-refusals.ts'
import { createUnknownTexts } from '../unknown-texts.ts'
import { broadcastAll } from './broadcast/broadcast.ts'
import { createPoolQueueWatch } from './broadcast/pool-queue.ts'
import { createPrivateBroadcast } from './broadcast/private-broadcast.ts'
import { createRefusalMemory, LATER_AMONG_SILENT } from './broadcast/second-opinion.ts'
import { callKey, decodeCall } from './call/decode-call.ts'
import { encodeCall } from './call/encode-call.ts'
import { readAbi } from './call/read-registered.ts'
import type { EvmDraft, EvmRequest } from './content.ts'
import { createInFlightLimits } from './delegation.ts'
import { createFunding } from './funding.ts'
import { GENESIS } from './genesis.ts'
import { createHeadFeed } from './heads.ts'
import { readManyReceipts } from './inclusion/block-receipts.ts'
import { proveInclusion } from './inclusion/prove-inclusion.ts'
import {
  readBalance,
  readBlockHash,
  readHead,
  readNonces,
  readPendingNonce,
  readReceiptsEverywhere,
  readRevertReason,
} from './inspect.ts'
import { NODE_DIALECT } from './node-dialect.ts'
import { checkRequest } from './prepare/check.ts'
import { prepareComparedNoop } from './prepare/compare-content.ts'
import { comparePrice } from './prepare/compare-price.ts'
import { ceilingOf } from './prepare/fees.ts'
import { createGasLimits } from './prepare/gas-limits.ts'
import { createLineaQuote } from './prepare/linea.ts'
import { createMarketWatch } from './prepare/market.ts'
import { createPriceBounds } from './prepare/node-price-limits.ts'
import { type PrepareContext, prepareDraft, prepareReplacement, prepareSpeedUp } from './prepare/prepare.ts'
import { readRollupFee } from './prepare/rollup-fee.ts'
import { EVM_CONTENT } from './read-content.ts'
import { READ_METHODS } from './read-methods.ts'
import { reviewUnsigned } from './review.ts'
import { signDraft, signPersonalMessage } from './sign.ts'
import { SPEEDS } from './speed.ts'
import { chainIdOf } from './typed-data/chain-id.ts'
import { signTypedData } from './typed-data/sign.ts'
import type { EvmChain } from './types.ts'
import { verifyChainId } from './verify.ts'

/** Creates the chain of one EVM network. */
export function createEvmChain(options: ChainOptions<EvmNetwork>): EvmChain {
  const { network, clock, log } = options
  const { http, webSocket } = byProtocol(network.rpcUrls)
  const { client, probeHeights } = connect(options, NODE_DIALECT, http)
  const unknownTexts = createUnknownTexts({ ...options, network: network.name })
  const privateBroadcast = createPrivateBroadcast(options, unknownTexts)
  const eip1559 = network.features.includes('eip1559')
  const [bounds, refusals] = [createPriceBounds(clock), createRefusalMemory()]
  const gasLimits = createGasLimits(clock)
  const queuedInPool = network.mempool ? createPoolQueueWatch(client) : undefined
  const freshForMs = Math.min(network.averageBlocktimeMs, 3_000)
  const market = createMarketWatch({ client, clock, freshForMs, bounds: bounds.current })
  const context: PrepareContext = {
    client,
    simulations: createSimulationRefusals(LATER_AMONG_SILENT, clock),
    market,
    eip1559,
    maxGas: network.maxGasPerTransaction,
    ...(network.opStack && {
      rollupFee: (draft: EvmDraft) => readRollupFee(client, draft, network.chainId),
    }),
    quote: createLineaQuote(client, network.chainId),
    gasLimits,
    unknownTexts,
  }
  return {
    unit: 'wei',
    readMethods: READ_METHODS,
    verify: () => verifyChainId(client, network),
    genesis: createGenesisReader(client, GENESIS),
    canonicalAddress: (text) => getAddress(text),
    contractCalls: { encode: encodeCall, readAbi, keyOf: callKey, decode: decodeCall },
    check: (request, account) => checkRequest(request, account, { chainId: network.chainId, eip1559 }),
    prepare: (request, account, knownGas) => prepareDraft(context, { request, account, knownGas }),
    replace: (request, attempts, account) => prepareReplacement(context, { request, attempts, account }),
    feeBump: {
      speedUp: (attempts, raise) => prepareSpeedUp(context, { attempts, ...raise }),
    },
    comparison: {
      prepareNoop: (refused, account) => prepareComparedNoop(context, { refused, account }),
    },
    endsAt: ({ validUntil }) => validUntil,
    noop: ({ address }) => ({ type: 'evm', to: address, value: 0n, data: '0x', speed: 'fast', isNoop: true }),
    sequencing: {
      nonces: (addresses, { asOf } = {}) => readNonces(client, addresses, asOf),
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
    typedData: { chainIdOf, sign: signTypedData },
    broadcast: (raws) =>
      broadcastAll({ client, clock, bounds, gasLimits, refusals, unknownTexts, queuedInPool }, raws),
    ...(privateBroadcast && { privateBroadcast }),
    head: () => {
      probeHeights()
      return readHead(client, network.finality)
    },
    seenHead: () => client.seenHead(),
    headSubscription: {
      subscribe: (listener) =>
        createHeadFeed({ urls: webSocket, blocktimeMs: network.averageBlocktimeMs, clock, log, listener }),
    },
    receipts: (hashes, { asOf } = {}) => readManyReceipts(client, hashes, asOf),
    receiptsEverywhere: (hashes, { asOf } = {}) => readReceiptsEverywhere(client, hashes, asOf),
    proveInclusion: (attempts, freshness) =>
      proveInclusion({ client, confirmations: network.requiredConfirmations }, attempts, freshness),
    forward: (calls) => client.forward(calls),
    endpoints: () => reportEndpoints(client, { clock }),
    blockFinality: { blockHash: (number, { asOf } = {}) => readBlockHash(client, number, asOf) },
    revertReasons: { read: (draft, from, block) => readRevertReason(client, { draft, from, block }) },
    funding: createFunding(client),
    ...createBalanceReader({ readBalance: (address) => readBalance(client, address), clock, freshForMs }),
    comparePrice: async (draft, level, { policies }) => {
      const answer = await market()
      if (answer.kind !== 'ok') return answer
      const compared = { level, market: answer.value, feeLimitMultiplier: policies.feeLimitMultiplier }
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
