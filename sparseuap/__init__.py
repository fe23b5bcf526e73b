"""sparseuap: a constructive universal-approximation proof simulator for sparse Transformers."""
