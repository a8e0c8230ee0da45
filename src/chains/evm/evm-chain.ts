import type { Logger } from 'pino'
import { getAddress } from 'viem'
import { createBatcher } from '../../lib/batcher.ts'
import type { Clock } from '../../lib/clock.ts'
import type { EvmNetwork, RpcUrl } from '../../networks/network.ts'
import type { Answer, EndpointReport, PriceComparison } from '../answer.ts'
import type { SigningContext } from '../chain.ts'
import { createRpcClient } from '../rpc/client.ts'
import { createHeightProbe } from '../rpc/height-probe.ts'
import type { RpcObserver } from '../rpc/observer.ts'
import type { PooledClient } from '../rpc/rpc.ts'
import type { Transport } from '../rpc/transport.ts'
import { createSimulationRefusals } from '../simulation-refusals.ts'
import type { Speed } from '../speed.ts'
import { broadcastAll } from './broadcast/broadcast.ts'
import { createRefusalMemory, LATER_AMONG_SILENT } from './broadcast/second-opinion.ts'
import type { EvmDraft, EvmRequest } from './content.ts'
import { createInFlightLimits } from './delegation.ts'
import { createHeadFeed } from './heads.ts'
import { readManyReceipts } from './inclusion/block-receipts.ts'
import { proveInclusion } from './inclusion/prove-inclusion.ts'
import { readBalance, readBlockHash, readHead, readNonces, readRevertReason } from './inspect.ts'
import { MAX_REQUEST_BYTES, NODE_ERRORS } from './node-errors.ts'
import { checkRequest } from './prepare/check.ts'
import { ceilingOf, type Market, marketFees } from './prepare/fees.ts'
import { createMarketWatch } from './prepare/market.ts'
import { type PrepareContext, prepareDraft, prepareReplacement, prepareSpeedUp } from './prepare/prepare.ts'
import { createPriceBounds } from './prepare/price-bounds.ts'
import { HEIGHT } from './quantity.ts'
import { READ_METHODS } from './read-methods.ts'
import { reviewUnsigned } from './review.ts'
import { signDraft, signPersonalMessage } from './sign.ts'
import { SPEEDS } from './speed.ts'
import { signTypedData } from './typed-data/sign.ts'
import type { EvmChain } from './types.ts'
import { verifyChainId } from './verify.ts'

interface EvmChainOptions {
  readonly network: EvmNetwork
  readonly rpcTimeoutMs: number
  readonly clock: Clock
  readonly log: Logger
  readonly observer?: RpcObserver | undefined
  /** Asks the RPC urls that callers of the API chose. Absent: they are not asked. */
  readonly guarded?: Transport | undefined
}

/** One EVM network behind the `Chain` interface. */
export function createEvmChain({
  network,
  rpcTimeoutMs,
  clock,
  log,
  observer,
  guarded,
}: EvmChainOptions): EvmChain {
  const { http, webSocket } = byProtocol(network.rpcUrls)
  const client = createRpcClient({
    urls: http,
    timeoutMs: rpcTimeoutMs,
    clock,
    log,
    height: HEIGHT,
    errors: NODE_ERRORS,
    maxRequestBytes: MAX_REQUEST_BYTES,
    observer,
    guarded,
  })
  const eip1559 = network.features.includes('eip1559')
  const [bounds, refusals] = [createPriceBounds(clock), createRefusalMemory()]
  const market = createMarketWatch({
    client,
    clock,
    freshForMs: Math.min(network.averageBlocktimeMs, 3_000),
    bounds: bounds.current,
  })
  const probeHeights = createHeightProbe(client, clock)
  const context: PrepareContext = {
    client,
    simulations: createSimulationRefusals(LATER_AMONG_SILENT),
    market,
    eip1559,
    maxGas: network.maxGasPerTransaction,
  }
  return {
    unit: 'wei',
    readMethods: READ_METHODS,
    verify: () => verifyChainId(client, network),
    canonicalAddress: (text) => getAddress(text),
    check: (request, account) => checkRequest(request, account, eip1559),
    prepare: (request, account, knownGas) => prepareDraft(context, { request, account, knownGas }),
    replace: (request, attempts, account) => prepareReplacement(context, { request, attempts, account }),
    feeBump: {
      speedUp: (attempts, level, account) => prepareSpeedUp(context, { attempts, level, account }),
    },
    endsAt: ({ validUntil }) => validUntil,
    noop: ({ address }) => ({ type: 'evm', to: address, value: 0n, data: '0x', speed: 'fast', isNoop: true }),
    sequencing: {
      nonces: (addresses, { asOf } = {}) => readNonces(client, addresses, asOf),
      inFlightLimit: createInFlightLimits(client, clock),
    },
    sign: (draft, signingContext) =>
      signDraft(
        { draft, nonce: requireNonce(signingContext), chainId: network.chainId },
        signingContext.account.signer,
      ),
    review: async (unsigned, account) =>
      reviewUnsigned(unsigned, account, { chainId: network.chainId, eip1559 }),
    signMessage: signPersonalMessage,
    typedData: { sign: signTypedData },
    broadcast: (raws) => broadcastAll({ client, bounds, refusals }, raws),
    head: () => {
      probeHeights()
      return readHead(client, network.finality)
    },
    headSubscription: {
      subscribe: (listener) =>
        createHeadFeed({ urls: webSocket, blocktimeMs: network.averageBlocktimeMs, clock, log, listener }),
    },
    receipts: (hashes, { asOf } = {}) => readManyReceipts(client, hashes, asOf),
    proveInclusion: (attempts, freshness) =>
      proveInclusion({ client, confirmations: network.requiredConfirmations }, attempts, freshness),
    forward: (calls) => client.forward(calls),
    endpoints: () => reportEndpoints(client),
    blockFinality: { blockHash: (number, { asOf } = {}) => readBlockHash(client, number, asOf) },
    revertReasons: { read: (draft, from, block) => readRevertReason(client, { draft, from, block }) },
    balance: createBalanceReader(client),
    comparePrice: async (draft, level) => {
      const answer = await market()
      return answer.kind === 'ok' ? { kind: 'ok', value: comparePrice(draft, level, answer.value) } : answer
    },
    cost: costOf,
    amountOut: ({ value }: EvmRequest) => value,
    speed: (level) => SPEEDS[level],
  }
}

/** Each accepted request asks for the balance; those that wait for the same answer share the next one. */
function createBalanceReader(client: PooledClient): EvmChain['balance'] {
  return createBatcher<string, Answer<bigint>>({
    keyOf: (address) => address,
    maxItems: Number.POSITIVE_INFINITY,
    run: async (addresses) => {
      const answer = await readBalance(client, addresses[0] ?? '')
      return addresses.map(() => answer)
    },
  })
}

function comparePrice({ fees }: EvmDraft, level: Speed, market: Market): PriceComparison {
  const prices = {
    bid: ceilingOf(fees),
    market: ceilingOf(marketFees(market, level, fees.kind === 'eip1559')),
  }
  return market.baseFee === undefined ? prices : { ...prices, baseFee: market.baseFee }
}

function costOf(draft: EvmDraft): bigint {
  return draft.value + draft.gasLimit * ceilingOf(draft.fees)
}

/** Everything is numbered before it is signed. */
function requireNonce({ nonce }: SigningContext): bigint {
  if (nonce === undefined) throw new Error('an EVM transaction cannot be signed without a nonce')
  return nonce
}

function reportEndpoints(client: PooledClient): EndpointReport[] {
  return client.states().map(({ url, ...state }) => ({ ...state, host: new URL(url).host }))
}

/** WebSocket urls tell of new blocks; everything else is asked over HTTP. */
function byProtocol(urls: readonly RpcUrl[]): { http: RpcUrl[]; webSocket: RpcUrl[] } {
  const isWebSocket = ({ url }: RpcUrl) => /^wss?:/i.test(url)
  return { http: urls.filter((url) => !isWebSocket(url)), webSocket: urls.filter(isWebSocket) }
}
