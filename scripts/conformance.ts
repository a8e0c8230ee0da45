/**
 * Runs the checks of a chain, and a story of the whole service (send, replace, cancel, expire, many at once), against a node that
 * someone brings.
 *
 *     npm run conformance -- --chain evm --rpc http://127.0.0.1:8545
 *     npm run conformance -- --chain stellar --rpc http://127.0.0.1:8000/rpc --faucet http://127.0.0.1:8000/friendbot
 *     npm run conformance -- --chain solana --rpc http://127.0.0.1:8899
 *
 * It makes accounts of its own and gives them money: EVM from the node's first account, or from the account whose private key is in
 * `--funding-key-file`; Stellar by friendbot; Solana by airdrop. `--rpc` may be given several times. Only for test networks.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readOptions } from './read-options.ts'

const ROOT = join(import.meta.dirname, '..')
const CHAINS = ['evm', 'stellar', 'solana']

const { values } = readOptions({
  options: {
    chain: { type: 'string' },
    rpc: { type: 'string', multiple: true },
    faucet: { type: 'string' },
    'funding-key-file': { type: 'string' },
  },
})

if (!CHAINS.includes(values.chain ?? '')) fail(`--chain: one of ${CHAINS.join(', ')} is expected`)
if (values.rpc === undefined) fail('--rpc: the URL of a node is expected')

const keyFile = values['funding-key-file']
const target = {
  chain: values.chain,
  rpcUrls: values.rpc,
  ...(values.faucet !== undefined && { faucet: values.faucet }),
  ...(keyFile !== undefined && { fundingKey: (await readFile(keyFile, 'utf8')).trim() }),
}
const child = spawn(
  join(ROOT, 'node_modules/.bin/vitest'),
  ['run', '--project', 'conformance', '--reporter', 'verbose'],
  { cwd: ROOT, stdio: 'inherit', env: { ...process.env, CONFORMANCE_TARGET: JSON.stringify(target) } },
)
const [code] = await once(child, 'exit')
process.exitCode = code ?? 1

function fail(message: string): never {
  process.stderr.write(`${message}\nUsage: npm run conformance -- --chain evm|stellar|solana --rpc URL …\n`)
  process.exit(2)
}
