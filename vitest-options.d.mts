/**
 * What `provide` of a Vitest configuration holds. A file of its own, because an augmentation reaches only
 * the form of `vitest` that its own file would import: this one the ESM form, which configurations use.
 */

// Without an import, an augmentation takes effect only where somebody else imports the module.
import type {} from 'vitest';

import type { RunOptions } from './index.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Options of firelet's `start`, and what a run is held to. */
    firelet: RunOptions;
  }
}
