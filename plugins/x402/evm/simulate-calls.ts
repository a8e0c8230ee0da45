import { concatHex, decodeAbiParameters, encodeAbiParameters, type Hex } from 'viem'
import { refuseShared } from '../../shared/canonical.ts'
import { type Rpc, Unavailable } from '../../shared/host.ts'
import type { Call } from './payment.ts'

/** What it returned, or the data with which it reverted. */
export interface CallResult {
  readonly ok: boolean
  readonly data: Hex
}

const CALLS = [
  {
    type: 'tuple[]',
    components: [
      { name: 'to', type: 'address' },
      { name: 'data', type: 'bytes' },
    ],
  },
] as const

const RESULTS = [
  {
    type: 'tuple[]',
    components: [
      { name: 'ok', type: 'bool' },
      { name: 'data', type: 'bytes' },
    ],
  },
] as const

/** More results than any answer needs; a token that returns more would make every reading slow. */
const MAX_RESULT_BYTES = 100_000

/**
 * Makes calls one after the other, each on what the one before left, and returns what each returned. Nothing
 * is changed: a node executes the creation of a contract that makes the calls and returns the results in
 * place of its code, and forgets it; by default on the newest state. A call that an account makes goes
 * through that account, which has code for that meanwhile; the node is told no sender then, because accounts
 * with code send nothing.
 * @throws Unavailable for more than any answer needs, and for what are no results
 */
export async function simulateCalls(
  rpc: Rpc,
  relayer: Hex,
  calls: readonly Call[],
  block = 'latest',
): Promise<readonly CallResult[]> {
  const through = calls.map(({ to, data, from }) =>
    from === undefined ? { to, data } : { to: from, data: concatHex([to, data]) },
  )
  const data = `${PROBE}${encodeAbiParameters(CALLS, [through]).slice(2)}`
  const senders = calls.flatMap(({ from }) => from ?? [])
  const call =
    senders.length === 0
      ? [{ from: relayer, data }, block]
      : [{ data }, block, Object.fromEntries(senders.map((sender) => [sender, { code: FORWARDER }]))]
  const answer = await rpc<Hex>('eth_call', call)
  if (answer.length > MAX_RESULT_BYTES * 2) throw new Unavailable('The calls returned too much.')
  return readResults(answer)
}

function readResults(answer: Hex): readonly CallResult[] {
  try {
    refuseShared(RESULTS, answer)
    return decodeAbiParameters(RESULTS, answer)[0]
  } catch {
    throw new Unavailable('A node answered something else than the results of the calls.')
  }
}

/**
 * Calls the address in the first 20 bytes of its input with the others, and returns or reverts with what that
 * returned: CALLDATACOPY, CALL, RETURNDATACOPY, then RETURN or REVERT.
 */
const FORWARDER: Hex =
  '0x6014360380601460003760006000826000600060003560601c5af13d600060003e3d600082602957fd5bf3'

/**
 * ```solidity
 * contract Probe {
 *     struct Call { address to; bytes data; }
 *     struct Result { bool ok; bytes data; }
 *
 *     constructor(Call[] memory calls) {
 *         Result[] memory results = new Result[](calls.length);
 *         for (uint256 i; i < calls.length; i++) {
 *             (results[i].ok, results[i].data) = calls[i].to.call(calls[i].data);
 *         }
 *         bytes memory output = abi.encode(results);
 *         assembly { return(add(output, 32), mload(output)) }
 *     }
 * }
 * ```
 * Compiled with solc 0.8.37 for the EVM version paris, with 200 runs of the optimizer and without metadata.
 */
const PROBE =
  '0x608060405234801561001057600080fd5b5060405161049338038061049383398101604081905261002f91610240565b60' +
  '0081516001600160401b0381111561004a5761004a6101ae565b604051908082528060200260200182016040528015610090' +
  '57816020015b6040805180820190915260008152606060208201528152602001906001900390816100685790505b50905060' +
  '005b8251811015610181578281815181106100b1576100b16103c9565b6020026020010151600001516001600160a01b0316' +
  '8382815181106100d8576100d86103c9565b6020026020010151602001516040516100f191906103df565b60006040518083' +
  '03816000865af19150503d806000811461012e576040519150601f19603f3d011682016040523d82523d6000602084013e61' +
  '0133565b606091505b50838381518110610146576101466103c9565b60200260200101516000018484815181106101635761' +
  '01636103c9565b60209081029190910181015101919091529015159052600101610096565b50600081604051602001610195' +
  '91906103fb565b6040516020818303038152906040529050805160208201f35b634e487b7160e01b60005260416004526024' +
  '6000fd5b604080519081016001600160401b03811182821017156101e6576101e66101ae565b60405290565b604051601f82' +
  '01601f191681016001600160401b0381118282101715610214576102146101ae565b604052919050565b60005b8381101561' +
  '023757818101518382015260200161021f565b50506000910152565b60006020828403121561025257600080fd5b81516001' +
  '600160401b0381111561026857600080fd5b8201601f8101841361027957600080fd5b80516001600160401b038111156102' +
  '92576102926101ae565b8060051b6102a2602082016101ec565b918252602081840181019290810190878411156102be5760' +
  '0080fd5b6020850192505b838310156103be5782516001600160401b038111156102e357600080fd5b85016040818a03601f' +
  '190112156102f957600080fd5b6103016101c4565b60208201516001600160a01b038116811461031b57600080fd5b815260' +
  '408201516001600160401b0381111561033657600080fd5b60208184010192505089601f83011261034e57600080fd5b8151' +
  '6001600160401b03811115610367576103676101ae565b61037a601f8201601f19166020016101ec565b8181528b60208386' +
  '0101111561038f57600080fd5b6103a082602083016020870161021c565b8060208401525050808452505060208201915060' +
  '20830192506102c5565b979650505050505050565b634e487b7160e01b600052603260045260246000fd5b600082516103f1' +
  '81846020870161021c565b9190910192915050565b6000602082016020835280845180835260408501915060408160051b86' +
  '010192506020860160005b8281101561048657603f1987860301845281518051151586526020810151905060406020870152' +
  '805180604088015261046381606089016020850161021c565b601f01601f1916959095016060019450602093840193919091' +
  '0190600101610423565b5092969550505050505056fe'
