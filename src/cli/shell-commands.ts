import { fileURLToPath } from 'node:url'

/** The three ways to have the program: a clone of the repository, a package in a folder of modules, and the image, or another copy of `dist`. */
type Installation = 'clone' | 'package' | 'copy'

const HERE = fileURLToPath(import.meta.url).replaceAll('\\', '/')

/** Gives the command line that a user types for arguments such as `init`, in the installation that this file belongs to. */
export function relayerCommand(args: string, file: string = HERE): string {
  return COMMAND_LINES[installationOf(file)](args)
}

/** Gives the command line that starts a local chain. A clone has anvil among its development dependencies. */
export function anvilCommand(args: string, file: string = HERE): string {
  return installationOf(file) === 'clone' ? `npx anvil ${args}` : `npx @foundry-rs/anvil ${args}`
}

const COMMAND_LINES: Readonly<Record<Installation, (args: string) => string>> = {
  clone: (args) => (args === 'serve' ? 'npm start' : `npm run relayer -- ${args}`),
  package: (args) => `npx multichain-relayer ${args}`,
  copy: (args) => `relayer ${args}`,
}

function installationOf(file: string): Installation {
  if (file.includes('/node_modules/multichain-relayer/')) return 'package'
  return file.endsWith('.ts') ? 'clone' : 'copy'
}
