/**
 * Runs the Solana network by itself until Ctrl+C:
 *
 *     node simulators/solana/main.ts --port 8899 --slot-ms 400 --fund ADDRESS
 *
 * Each account that `--fund` names has 100 SOL from the beginning.
 */
import { parseArgs } from 'node:util'
import { startSolana } from './start-solana.ts'

const LAMPORTS_PER_ACCOUNT = 100n * 1_000_000_000n

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8899' },
    'slot-ms': { type: 'string', default: '400' },
    fund: { type: 'string', multiple: true, default: [] },
  },
})

const solana = await startSolana({ port: Number(values.port), slotMs: Number(values['slot-ms']) })
for (const address of values.fund) solana.airdrop(address, LAMPORTS_PER_ACCOUNT)
console.log(`RPC: ${solana.url}\nGenesis hash: ${solana.genesisHash}`)
process.once('SIGINT', () => void solana.stop())
