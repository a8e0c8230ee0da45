import { readFile } from 'node:fs/promises'
import { type Abi, encodeDeployData, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CONTRACT_CREATION } from '../../../src/chains/effects.ts'
import { evmEffects } from '../../../src/chains/evm/effects/effects.ts'
import { smaller } from '../../../src/lib/bigint.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { createRandom, type Random } from '../../support/random.ts'

/** Accounts of anvil, which it signs for. */
const RELAYER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const ATTACKER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const FRIEND = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'

const SEEDS = 150

const TOKENS = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function transfer(address, uint256)',
  'function approve(address, uint256)',
  'function transferFrom(address, address, uint256)',
  'function safeTransferFrom(address, address, uint256)',
  'function increaseAllowance(address, uint256)',
  'function burn(uint256)',
  'function mint(address, uint256)',
  'function setApprovalForAll(address, bool)',
  'function isApprovedForAll(address owner, address operator) view returns (bool)',
  'function getApproved(uint256) view returns (address)',
  'function ownerOf(uint256) view returns (address)',
])
const MINT_NEXT = parseAbi(['function mint(address)'])

let anvil: Anvil
let token: Hex
let nfts: Hex
/** It passes on what it gets. */
let forwarder: Hex

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  token = await deploy('ERC20PresetMinterPauser', ['Token', 'T'])
  nfts = await deploy('ERC721PresetMinterPauserAutoId', ['Things', 'N', 'https://example.com/'])
  forwarder = '0x00000000000000000000000000000000000f0f0f'
  // CALL(gas, ATTACKER, CALLVALUE, 0, 0, 0, 0)
  const code = `0x60006000600060003473${ATTACKER.slice(2)}5af100`
  await anvil.rpc('anvil_setCode', [forwarder, code])
  await execute(RELAYER, { to: token, data: dataOf('mint', [RELAYER, 1_000_000n]) })
  await execute(RELAYER, { to: token, data: dataOf('mint', [FRIEND, 1_000_000n]) })
  await execute(RELAYER, { to: token, data: dataOf('approve', [RELAYER, 500_000n]) })
  await execute(FRIEND, { to: token, data: dataOf('approve', [RELAYER, 500_000n]) })
  for (let count = 0; count < 3; count += 1) {
    const data = encodeFunctionData({ abi: MINT_NEXT, functionName: 'mint', args: [RELAYER] })
    await execute(RELAYER, { to: nfts, data })
  }
}, 60_000)
afterAll(() => anvil.stop())

interface Call {
  readonly to?: Hex
  readonly value?: bigint
  readonly data?: Hex
}

/** Contracts of OpenZeppelin, as they are compiled in their package. */
async function deploy(name: string, args: readonly string[]): Promise<Hex> {
  const path = import.meta.resolve(`@openzeppelin/contracts/build/contracts/${name}.json`)
  const { abi, bytecode } = JSON.parse(await readFile(new URL(path), 'utf8')) as { abi: Abi; bytecode: Hex }
  const { contractAddress } = await execute(RELAYER, { data: encodeDeployData({ abi, bytecode, args }) })
  if (contractAddress === null) throw new Error(`${name} was not deployed`)
  return contractAddress
}

interface Receipt {
  readonly status: Hex
  readonly gasUsed: Hex
  readonly effectiveGasPrice: Hex
  readonly contractAddress: Hex | null
}

async function execute(from: string, { to, value = 0n, data = '0x' }: Call): Promise<Receipt> {
  const fields = { from, ...(to && { to }), value: `0x${value.toString(16)}`, data, gas: '0x4c4b40' }
  const hash = await anvil.rpc<Hex>('eth_sendTransaction', [fields])
  await anvil.rpc('evm_mine')
  return anvil.rpc<Receipt>('eth_getTransactionReceipt', [hash])
}

type TokenCall = 'transfer' | 'approve' | 'transferFrom' | 'safeTransferFrom' | 'increaseAllowance' | 'burn'

const dataOf = (
  functionName: TokenCall | 'mint' | 'setApprovalForAll',
  args: readonly (string | bigint | boolean)[],
) => encodeFunctionData({ abi: TOKENS, functionName, args: args as never })

async function read(to: Hex, functionName: string, args: readonly (string | bigint)[]): Promise<bigint> {
  const data = encodeFunctionData({ abi: TOKENS, functionName, args } as never)
  return BigInt(await anvil.rpc<Hex>('eth_call', [{ to, data }, 'latest']))
}

/** What a person could ask a relayer for, the attacker's wishes among it. */
function draw(random: Random): Call {
  const amount = random.pick([0n, 1n, 250_000n, 1_000_000n, 1_000_001n, 2n ** 256n - 1n])
  const value = random.pick([0n, 0n, 0n, 1n, 10n ** 18n])
  const to = random.pick<Hex>([ATTACKER, ATTACKER, FRIEND, RELAYER])
  const id = BigInt(random.int(0, 3))
  const calls: Readonly<Record<string, () => Call>> = {
    payment: () => ({ to, value: value + 1n }),
    forwarded: () => ({ to: forwarder, value: value + 1n, data: random.pick(['0x', '0x12345678']) }),
    // PUSH20 ATTACKER SELFDESTRUCT
    creation: () => ({ value, data: `0x73${ATTACKER.slice(2)}ff` }),
    self: () => ({ to: RELAYER, value, data: dataOf('transfer', [ATTACKER, amount]) }),
    transfer: () => ({ to: token, data: dataOf('transfer', [to, amount]) }),
    longer: () => ({ to: token, data: `${dataOf('transfer', [to, amount])}00ff` }),
    shorter: () => ({ to: token, data: dataOf('transfer', [to, amount]).slice(0, -2) as Hex }),
    approve: () => ({ to: token, data: dataOf('approve', [to, amount]) }),
    more: () => ({ to: token, data: dataOf('increaseAllowance', [to, amount]) }),
    own: () => ({ to: token, data: dataOf('transferFrom', [RELAYER, to, amount]) }),
    other: () => ({ to: token, data: dataOf('transferFrom', [FRIEND, to, amount]) }),
    burn: () => ({ to: token, data: dataOf('burn', [amount]) }),
    thing: () => ({ to: nfts, data: dataOf('transferFrom', [RELAYER, to, id]) }),
    safely: () => ({ to: nfts, data: dataOf('safeTransferFrom', [RELAYER, to, id]) }),
    lend: () => ({ to: nfts, data: dataOf('approve', [to, id]) }),
    everything: () => ({ to: nfts, data: dataOf('setApprovalForAll', [to, random.chance(0.7)]) }),
  }
  const call = (calls[random.pick(Object.keys(calls))] as () => Call)()
  const data = call.data && random.chance(0.2) ? (`0x${call.data.slice(2).toUpperCase()}` as Hex) : call.data
  return { ...call, ...(data && { data }) }
}

/** The attacker takes whatever the transaction has allowed. */
async function takeAllowed(): Promise<void> {
  const allowed = await read(token, 'allowance', [RELAYER, ATTACKER])
  const has = await read(token, 'balanceOf', [RELAYER])
  const amount = smaller(allowed, has)
  if (amount > 0n)
    await execute(ATTACKER, { to: token, data: dataOf('transferFrom', [RELAYER, ATTACKER, amount]) })
  const all = await read(nfts, 'isApprovedForAll', [RELAYER, ATTACKER])
  for (const id of [0n, 1n, 2n]) {
    const isTheirs = BigInt(RELAYER) !== (await read(nfts, 'ownerOf', [id]))
    const mayTake = all === 1n || (await read(nfts, 'getApproved', [id])) === BigInt(ATTACKER)
    if (!isTheirs && mayTake)
      await execute(ATTACKER, { to: nfts, data: dataOf('transferFrom', [RELAYER, ATTACKER, id]) })
  }
}

const holdingsOf = async (who: string) => ({
  native: BigInt(await anvil.rpc<Hex>('eth_getBalance', [who, 'latest'])),
  token: await read(token, 'balanceOf', [who]),
  nfts: await read(nfts, 'balanceOf', [who]),
})

test('what a call takes from the relayer, and who gets it, is in the effects that rules read', async () => {
  const counts = { executed: 0, taken: 0, read: 0 }
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const snapshot = await anvil.rpc('evm_snapshot')
    const call = draw(createRandom(seed))
    const told = `seed ${seed}: ${JSON.stringify(call, (_, one) => (typeof one === 'bigint' ? `${one}` : one))}`
    const effects = evmEffects({ type: 'evm', value: 0n, ...call }, RELAYER)
    const [had, theyHad] = [await holdingsOf(RELAYER), await holdingsOf(ATTACKER)]
    const receipt = await execute(RELAYER, call)
    if (receipt.status === '0x1') {
      counts.executed += 1
      const paid = had.native - BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
      const lostNative = paid - (await holdingsOf(RELAYER)).native
      await takeAllowed()
      const [has, theyHave] = [await holdingsOf(RELAYER), await holdingsOf(ATTACKER)]
      const believed = (asset: string) => effects.amounts.find((one) => one.asset === asset)?.value ?? 0n
      const lost = { token: had.token - has.token, nfts: had.nfts - has.nfts }
      if (lostNative > 0n || lost.token > 0n || lost.nfts > 0n) counts.taken += 1
      // A rule refuses what cannot be read, unless it trusts the contract.
      if (effects.unread.length === 0) {
        counts.read += 1
        expect(lostNative, told).toBeLessThanOrEqual(believed('native'))
        expect(lost.token, told).toBeLessThanOrEqual(believed(token))
        const gains = [theyHave.token > theyHad.token, theyHave.nfts > theyHad.nfts, lostNative > 0n].some(
          Boolean,
        )
        const known = [ATTACKER, FRIEND, forwarder, CONTRACT_CREATION]
        if (gains)
          expect(effects.receivers.filter((one) => known.includes(one)).length, told).toBeGreaterThan(0)
      } else if (lost.nfts > 0n || lost.token > 0n)
        expect([undefined, token, nfts], told).toContain(effects.unread[0]?.asset)
    }
    await anvil.rpc('evm_revert', [snapshot])
  }
  expect(counts.executed).toBeGreaterThan(SEEDS / 3)
  expect(counts.taken).toBeGreaterThan(SEEDS / 6)
  expect(counts.read).toBeGreaterThan(SEEDS / 4)
}, 120_000)
