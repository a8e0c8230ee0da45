import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Every rule of axe-core: those of WCAG, and its best practices. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    type Results = { violations: { id: string; nodes: { html: string }[] }[] }
    const { axe } = globalThis as unknown as { axe: { run(): Promise<Results> } }
    const { violations } = await axe.run()
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
  })
}
