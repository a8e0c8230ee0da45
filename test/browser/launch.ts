import { type Browser, chromium } from 'playwright-core'

/** Where Chromium is. `CHROMIUM_PATH` names another one than the package of the system. */
const EXECUTABLE = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'

/** Starts Chromium. */
export function launchChromium(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', ...args] })
}
